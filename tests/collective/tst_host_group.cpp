#include <QtTest>

#include <cstring>
#include <numeric>

#include <rapidcheck.h>

#include "tests/collective/rank_team.h"

using namespace lockstep;

namespace {

template <class T>
constexpr DType dtypeOf() {
    if constexpr (std::is_same_v<T, float>) return DType::F32;
    else if constexpr (std::is_same_v<T, double>) return DType::F64;
    else if constexpr (std::is_same_v<T, std::int32_t>) return DType::I32;
    else return DType::I64;
}

// Numbers of many magnitudes between -1000 and 1000: sums in another order would differ in their last bits.
template <class T>
T valueAt(int rank, std::size_t i) {
    const std::uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15ull * static_cast<std::uint64_t>(2 * rank + 3);
    return static_cast<T>(static_cast<double>(mixed >> 11) * 0x1p-53 * 2000 - 1000);
}

template <class T>
std::vector<std::vector<T>> inputs(int ranks, std::size_t count) {
    std::vector<std::vector<T>> all(static_cast<std::size_t>(ranks), std::vector<T>(count));
    for (int rank = 0; rank < ranks; ++rank) {
        auto& own = all[static_cast<std::size_t>(rank)];
        for (std::size_t i = 0; i < count; ++i) own[i] = valueAt<T>(rank, i);
    }
    return all;
}

// The contract, element by element: one tree over the ranks, in the element's own type.
template <class T>
T treeSum(const std::vector<std::vector<T>>& all, std::size_t element, std::size_t first, std::size_t count) {
    if (count == 1) return all[first][element];
    const std::size_t left = std::bit_floor(count - 1);
    return static_cast<T>(treeSum(all, element, first, left) + treeSum(all, element, first + left, count - left));
}

template <class T>
std::vector<T> sumInTree(const std::vector<std::vector<T>>& all) {
    std::vector<T> sum;
    for (std::size_t i = 0; i < all.front().size(); ++i) sum.push_back(treeSum(all, i, 0, all.size()));
    return sum;
}

template <class T>
bool sameBits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
void checkAllReduce(int ranks, std::size_t count) {
    auto data = inputs<T>(ranks, count);
    const std::vector<T> expected = sumInTree(data);
    RankTeam team(ranks);
    team.expect([&](Collective& group) {
        auto& own = data[static_cast<std::size_t>(group.rank())];
        group.wait(group.allReduce(own.data(), count, dtypeOf<T>()));
    });
    for (int rank = 0; rank < ranks; ++rank) {
        const bool same = sameBits(data[static_cast<std::size_t>(rank)], expected);
        QVERIFY2(same, qPrintable(QString("%1 ranks, %2 elements, rank %3").arg(ranks).arg(count).arg(rank)));
    }
}

}  // namespace

class TstHostGroup : public QObject {
    Q_OBJECT

private slots:
    void sumsAreOneTreeOnEveryRank() {
        const std::size_t sizes[] = {0, 1, 2, 15, 16, 17, 63, 64, 65, 1000, 4095, 4096, 4097, 16383, 65537, 300001};
        for (int ranks = 1; ranks <= 9; ++ranks) {
            for (const std::size_t size : sizes) {
                checkAllReduce<float>(ranks, size);
                checkAllReduce<double>(ranks, size);
                checkAllReduce<std::int32_t>(ranks, size);
                checkAllReduce<std::int64_t>(ranks, size);
            }
        }
    }

    void largeSums() {
        for (const int ranks : {2, 3, 9}) checkAllReduce<float>(ranks, (1 << 20) + 1);
    }

    void sumsAreCloseToDouble() {
        auto data = inputs<float>(9, 10000);
        std::vector<double> exact(10000);
        for (const auto& own : data)
            std::transform(own.begin(), own.end(), exact.begin(), exact.begin(), std::plus<>());
        RankTeam team(9);
        team.expect([&](Collective& group) {
            auto& own = data[static_cast<std::size_t>(group.rank())];
            group.wait(group.allReduce(own.data(), own.size(), DType::F32));
        });
        for (std::size_t i = 0; i < exact.size(); ++i)
            QVERIFY(std::abs(data[4][i] - exact[i]) <= 9 * 1000 * 9 * 0x1p-24);
    }

    void integersWrapAround() {
        std::vector<std::vector<std::int32_t>> data(2, {std::numeric_limits<std::int32_t>::max()});
        RankTeam team(2);
        team.expect([&](Collective& group) {
            group.wait(group.allReduce(data[static_cast<std::size_t>(group.rank())].data(), 1, DType::I32));
        });
        QCOMPARE(data[0][0], -2);
    }

    // Many in flight, completed in any mixture of progress() and wait(), more often than the ring has places.
    void randomTraffic() {
        const bool held = rc::check("random traffic", [] {
            const int ranks = *rc::gen::inRange(1, 7);
            const auto sizes = *rc::gen::container<std::vector<int>>(200, rc::gen::inRange(0, 1000));
            const int depth = *rc::gen::inRange(1, 90);
            RankTeam team(ranks);
            std::vector<std::vector<std::vector<float>>> data;  // by operation, then rank
            for (const int size : sizes) data.push_back(inputs<float>(ranks, static_cast<std::size_t>(size)));
            const auto before = data;
            team.expect([&](Collective& group) {
                std::vector<Ticket> tickets;
                for (std::size_t op = 0; op < sizes.size(); ++op) {
                    auto& own = data[op][static_cast<std::size_t>(group.rank())];
                    tickets.push_back(group.allReduce(own.data(), own.size(), DType::F32));
                    if ((op + static_cast<std::size_t>(group.rank())) % 3 == 0) group.progress();
                    if (op >= static_cast<std::size_t>(depth))
                        group.wait(tickets[op - static_cast<std::size_t>(depth)]);
                }
                group.wait(tickets.back());
            });
            for (std::size_t op = 0; op < sizes.size(); ++op) {
                for (const auto& own : data[op]) RC_ASSERT(sameBits(own, sumInTree(before[op])));
            }
        });
        QVERIFY(held);
    }

    void scatterGatherBroadcast() {
        const bool held = rc::check("scatter, gather, broadcast", [] {
            const int ranks = *rc::gen::inRange(1, 8);
            const auto count = static_cast<std::size_t>(*rc::gen::inRange(0, 20000));
            const int root = *rc::gen::inRange(0, ranks);
            const auto all = static_cast<std::size_t>(ranks) * count;
            const auto data = inputs<double>(ranks, all);
            const auto sum = sumInTree(data);
            std::vector<std::vector<double>> parts(static_cast<std::size_t>(ranks), std::vector<double>(count));
            auto gathered = inputs<double>(ranks, all), copies = data;
            RankTeam team(ranks);
            team.expect([&](Collective& group) {
                const auto me = static_cast<std::size_t>(group.rank());
                group.wait(group.reduceScatter(data[me].data(), parts[me].data(), count, DType::F64));
                const Ticket gather = group.allGather(parts[me].data(), gathered[me].data(), count * sizeof(double));
                const Ticket spread = group.broadcast(copies[me].data(), all * sizeof(double), root);
                group.wait(spread);
                group.wait(gather);
            });
            for (const auto& each : gathered) RC_ASSERT(sameBits(each, sum));
            for (const auto& each : copies) RC_ASSERT(sameBits(each, data[static_cast<std::size_t>(root)]));
        });
        QVERIFY(held);
    }

    void messagesArriveInOrder() {
        constexpr int kMessages = 300;
        RankTeam team(3);
        std::vector<std::vector<int>> got(3);
        team.expect([&](Collective& group) {
            const int next = (group.rank() + 1) % 3, previous = (group.rank() + 2) % 3;
            auto& mine = got[static_cast<std::size_t>(group.rank())];
            mine.resize(kMessages);
            std::vector<int> out(kMessages);
            std::iota(out.begin(), out.end(), 1000 * group.rank());
            Ticket last;
            for (std::size_t i = 0; i < kMessages; ++i) {
                group.send(&out[i], sizeof(int), next);
                last = group.receive(&mine[i], sizeof(int), previous);
            }
            group.wait(last);
        });
        for (int rank = 0; rank < 3; ++rank) {
            for (int i = 0; i < kMessages; ++i) {
                QCOMPARE(got[static_cast<std::size_t>(rank)][static_cast<std::size_t>(i)], 1000 * ((rank + 2) % 3) + i);
            }
        }
    }

    void barrierHoldsEverybody() {
        RankTeam team(5);
        std::atomic<int> arrived{0};
        std::atomic<bool> early{false};
        team.expect([&](Collective& group) {
            for (int round = 1; round <= 100; ++round) {
                ++arrived;
                group.barrier();
                if (arrived < 5 * round) early = true;
                group.barrier();
            }
        });
        QVERIFY(!early);
    }

    void subgroupsWorkBesideTheirGroup() {
        RankTeam team(5);
        std::vector<double> sums(5);
        team.expect([&](Collective& group) {
            const bool odd = group.rank() % 2 == 1;
            const std::vector<int> members = odd ? std::vector{1, 3} : std::vector{0, 2, 4};
            for (int round = 0; round < 3; ++round) {
                const auto part = group.subgroup(members);
                QCOMPARE(part->size(), static_cast<int>(members.size()));
                QCOMPARE(members[static_cast<std::size_t>(part->rank())], group.rank());
                double& own = sums[static_cast<std::size_t>(group.rank())];
                own = group.rank();
                part->wait(part->allReduce(&own, 1, DType::F64));
                group.barrier();
            }
        });
        QCOMPARE(sums, (std::vector<double>{6, 4, 6, 4, 6}));
    }
};

QTEST_APPLESS_MAIN(TstHostGroup)
#include "tst_host_group.moc"
