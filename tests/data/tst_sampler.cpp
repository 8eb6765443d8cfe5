#include <rapidcheck.h>
#include <QtTest>
#include <algorithm>
#include <numeric>

#include "engine/data/sampler.h"

using namespace lockstep;

namespace {

using Ids = std::vector<std::int64_t>;

Ids epochOrder(const Sampler& sampler, std::int64_t epoch) {
    Ids order;
    for (std::int64_t i = 0; i < sampler.count(); ++i) order.push_back(sampler.sampleAt(epoch, i));
    return order;
}

Ids upTo(std::int64_t count) {
    Ids ids(static_cast<std::size_t>(count));
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
}

// What all ranks read in an epoch, in the order of the global batches.
Ids gather(const Sampler& sampler, std::int64_t epoch, int world) {
    Ids all, share;
    for (std::int64_t step = 0; step < sampler.stepsPerEpoch(); ++step) {
        for (int rank = 0; rank < world; ++rank) {
            sampler.batch(epoch, step, shareOf(sampler.batchSize(step), rank, world), share);
            all.insert(all.end(), share.begin(), share.end());
        }
    }
    return all;
}

}  // namespace

class TestSampler : public QObject {
    Q_OBJECT
private slots:
    void everySampleOncePerEpochWhateverTheWorldAndTheBatch() {
        for (std::int64_t count = 1; count <= 257; ++count) {
            const std::int64_t batch = 1 + (count * 31) % 97;
            const Sampler sampler(count, batch, 7, Sampler::Order::Shuffled);
            const Ids order = epochOrder(sampler, 3);
            Ids sorted = order;
            std::ranges::sort(sorted);
            QCOMPARE(sorted, upTo(count));
            for (int world = 1; world <= 9; ++world) QCOMPARE(gather(sampler, 3, world), order);
        }
    }

    void theOrderDependsOnSeedAndEpochOnly() {
        QVERIFY(rc::check("order", [] {
            const auto count = *rc::gen::inRange<std::int64_t>(1, 2000);
            const auto seed = *rc::gen::arbitrary<std::uint64_t>();
            const auto epoch = *rc::gen::inRange<std::int64_t>(0, 1000);
            const auto world = *rc::gen::inRange(1, 10);
            const Sampler one(count, *rc::gen::inRange<std::int64_t>(1, 2100), seed, Sampler::Order::Shuffled);
            const Sampler other(count, *rc::gen::inRange<std::int64_t>(1, 2100), seed, Sampler::Order::Shuffled);
            RC_ASSERT(gather(one, epoch, world) == gather(other, epoch, 1));
        }));
    }

    void sharesAreContiguousEvenAndComplete() {
        QVERIFY(rc::check("shares", [] {
            const auto batch = *rc::gen::inRange<std::int64_t>(0, 5000);
            const auto world = *rc::gen::inRange(1, 65);
            std::int64_t end = 0, largest = 0, smallest = batch;
            for (int rank = 0; rank < world; ++rank) {
                const Share share = shareOf(batch, rank, world);
                RC_ASSERT(share.begin == end);
                if (rank > 0) RC_ASSERT(share.count <= shareOf(batch, rank - 1, world).count);
                end += share.count;
                largest = std::max(largest, share.count);
                smallest = std::min(smallest, share.count);
            }
            RC_ASSERT(end == batch);
            RC_ASSERT(largest - smallest <= 1);
        }));
    }

    void theLastBatchIsShortAndStepsAreCounted() {
        const Sampler sampler(103, 20, 1, Sampler::Order::Shuffled);
        QCOMPARE(sampler.stepsPerEpoch(), 6);
        QCOMPARE(sampler.batchSize(0), 20);
        QCOMPARE(sampler.batchSize(5), 3);
        QCOMPARE(sampler.batchSize(6), 0);
        Ids share{1, 2, 3};
        sampler.batch(0, 5, shareOf(3, 3, 4), share);
        QVERIFY(share.empty());
        QCOMPARE(Sampler(100, 1000, 1, Sampler::Order::Shuffled).stepsPerEpoch(), 1);
        QCOMPARE(Sampler(0, 8, 1, Sampler::Order::Shuffled).stepsPerEpoch(), 0);
    }

    void everyEpochAndEverySeedHasItsOwnOrder() {
        const Sampler sampler(1000, 10, 5, Sampler::Order::Shuffled);
        const Ids first = epochOrder(sampler, 0);
        QVERIFY(first != upTo(1000));
        for (std::int64_t epoch = 1; epoch < 50; ++epoch) QVERIFY(epochOrder(sampler, epoch) != first);
        QVERIFY(epochOrder(Sampler(1000, 10, 6, Sampler::Order::Shuffled), 0) != first);
    }

    void sequentialIsTheIdentity() { QCOMPARE(gather(Sampler(53, 7, 5, Sampler::Order::Sequential), 4, 3), upTo(53)); }

    // The order is part of what a trial means: a change of the permutation would break resuming.
    void goldenOrder() {
        QCOMPARE(epochOrder(Sampler(10, 4, 1, Sampler::Order::Shuffled), 0), Ids({2, 7, 3, 6, 4, 8, 5, 1, 0, 9}));
    }

    // Chi-squared of (position, sample) over many epochs, for sizes at and around powers of four.
    void positionsAreRoughlyUniform() {
        for (const std::int64_t count : {2, 3, 4, 5, 16, 17, 50}) {
            constexpr int kEpochs = 6000;
            std::vector<double> hits(static_cast<std::size_t>(count * count));
            const Sampler sampler(count, 8, 11, Sampler::Order::Shuffled);
            for (int epoch = 0; epoch < kEpochs; ++epoch) {
                for (std::int64_t i = 0; i < count; ++i)
                    ++hits[static_cast<std::size_t>(i * count + sampler.sampleAt(epoch, i))];
            }
            const double expected = static_cast<double>(kEpochs) / static_cast<double>(count);
            double chi = 0;
            for (const double hit : hits) chi += (hit - expected) * (hit - expected) / expected;
            const double freedom = static_cast<double>((count - 1) * (count - 1));
            QVERIFY2(chi < freedom + 6 * std::sqrt(2 * freedom) + 10,
                     qPrintable(QString("n=%1 chi=%2").arg(count).arg(chi)));
        }
    }

    // Neighbours of an epoch are not neighbours in the dataset: the correlation of position and sample, and of a sample
    // with its successor, stays within six standard errors.
    void largeOrdersHaveNoTrend() {
        constexpr std::int64_t kCount = 60000;
        const Ids order = epochOrder(Sampler(kCount, 128, 3, Sampler::Order::Shuffled), 1);
        const double mean = (kCount - 1) / 2.0, variance = (double(kCount) * kCount - 1) / 12;
        double trend = 0, successor = 0;
        for (std::size_t i = 0; i + 1 < order.size(); ++i) {
            const double here = static_cast<double>(order[i]) - mean;
            trend += here * (static_cast<double>(i) - mean);
            successor += here * (static_cast<double>(order[i + 1]) - mean);
        }
        const double bound = 6 / std::sqrt(double(kCount));
        QVERIFY(std::abs(trend / variance / kCount) < bound);
        QVERIFY(std::abs(successor / variance / kCount) < bound);
    }
};

QTEST_APPLESS_MAIN(TestSampler)
#include "tst_sampler.moc"
