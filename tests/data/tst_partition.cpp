#include <rapidcheck.h>

#include <QtTest>

#include <numeric>

#include "engine/data/partition.h"

using namespace lockstep;

namespace {

// Every pass of every rank in order: together the whole batch, without gap or overlap, sizes falling by one at most.
bool coversInOrder(const Partition& partition, std::int64_t batch) {
    std::int64_t end = 0;
    for (int rank = 0; rank < partition.world(); ++rank) {
        const Share share = partition.share(batch, rank);
        if (share.begin != end) return false;
        const auto sizes = partition.passSizes(batch, rank);
        for (int pass = 0; pass < partition.passes(); ++pass) {
            const Share part = partition.pass(batch, rank, pass);
            if (part.begin != end || part.count != sizes[static_cast<std::size_t>(pass)]) return false;
            if (pass > 0 && (part.count > sizes.front() || part.count + 1 < sizes.front())) return false;
            end += part.count;
        }
        if (end != share.begin + share.count) return false;
    }
    return end == batch;
}

}  // namespace

class TestPartition : public QObject {
    Q_OBJECT
private slots:
    void theBatchIsCoveredInOrder() {
        QVERIFY(rc::check("passes cover the batch", [] {
            const auto batch = *rc::gen::inRange<std::int64_t>(0, 3000);
            const auto world = *rc::gen::inRange(1, 17), passes = *rc::gen::inRange(1, 17);
            RC_ASSERT(coversInOrder(Partition::byRanks(world, passes), batch));
            RC_ASSERT(coversInOrder(Partition::byShards(world, world * passes), batch));
            std::vector<double> weights;
            for (int rank = 0; rank < world; ++rank) weights.push_back(*rc::gen::inRange(1, 1000) / 100.0);
            RC_ASSERT(coversInOrder(Partition::byWeights(weights, passes), batch));
        }));
    }

    void ranksShareEvenlyWhateverTheAccumulation() {
        QVERIFY(rc::check("shares", [] {
            const auto batch = *rc::gen::inRange<std::int64_t>(0, 3000);
            const auto world = *rc::gen::inRange(1, 17), passes = *rc::gen::inRange(1, 17);
            for (int rank = 0; rank < world; ++rank) {
                RC_ASSERT(Partition::byRanks(world, passes).share(batch, rank) == shareOf(batch, rank, world));
            }
        }));
    }

    void sharesFollowTheirWeights() {
        QVERIFY(rc::check("weights", [] {
            const auto batch = *rc::gen::inRange<std::int64_t>(0, 3000);
            const auto world = *rc::gen::inRange(1, 9);
            std::vector<double> weights;
            for (int rank = 0; rank < world; ++rank) weights.push_back(*rc::gen::inRange(1, 1000) / 100.0);
            const double whole = std::accumulate(weights.begin(), weights.end(), 0.0);
            for (int rank = 0; rank < world; ++rank) {
                const double exact = static_cast<double>(batch) * weights[static_cast<std::size_t>(rank)] / whole;
                const auto share = Partition::byWeights(weights, 1).share(batch, rank);
                RC_ASSERT(std::abs(static_cast<double>(share.count) - exact) <= 1.0 + 1e-9);
            }
        }));
        QVERIFY((Partition::byWeights({2, 1, 1}, 1).share(128, 0) == Share{0, 64}));
        QVERIFY((Partition::byWeights({1, 1000}, 1).share(8, 0) == Share{0, 0}));
    }

    void shardsAreTheSameWhateverTheWorld() {
        for (const std::int64_t batch : {1, 7, 8, 43, 128}) {
            std::vector<std::vector<Share>> shards;
            for (const int world : {1, 2, 4, 8}) {
                const Partition partition = Partition::byShards(world, 8);
                shards.emplace_back();
                for (int rank = 0; rank < world; ++rank) {
                    for (int pass = 0; pass < partition.passes(); ++pass) {
                        shards.back().push_back(partition.pass(batch, rank, pass));
                    }
                }
                QVERIFY(shards.back() == shards.front());
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestPartition)
#include "tst_partition.moc"
