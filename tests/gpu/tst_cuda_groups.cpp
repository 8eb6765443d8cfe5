#include <dlfcn.h>

#include <QtTest>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <mutex>
#include <thread>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/core/error.h"
#include "tests/collective/rank_team.h"
#include "tests/gpu/host/fake_nccl.h"

using namespace lockstep;

namespace {

// Numbers of many magnitudes: sums in another order would differ in their last bits.
float valueAt(int rank, std::size_t i) {
    const std::uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15ull * static_cast<std::uint64_t>(2 * rank + 3);
    return static_cast<float>(static_cast<double>(mixed >> 11) * 0x1p-53 * 2000 - 1000);
}

std::vector<float> valuesOf(int rank, std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = valueAt(rank, i);
    return values;
}

std::vector<DeviceChoice> choices(int ranks, bool shared) {
    std::vector<DeviceChoice> made;
    for (int rank = 0; rank < ranks; ++rank) {
        const int card = shared ? 0 : rank;
        made.push_back({"cuda", card, 1, shared, "cuda:" + std::to_string(card)});
    }
    return made;
}

// What a rank does with memory of its card. The device's compute lane stands for kernels before and after.
class Card {
public:
    Card(const Backend& backend, const DeviceChoice& choice) : m_device(backend.open(choice)) {}

    std::byte* put(const std::vector<float>& values) {
        Buffer& buffer = m_buffers.emplace_back(m_device->allocate(values.size() * sizeof(float)));
        compute().copyToDevice(buffer.data(), reinterpret_cast<const std::byte*>(values.data()), buffer.bytes());
        return buffer.data();
    }
    std::vector<float> get(const std::byte* at, std::size_t count) {
        std::vector<float> values(count);
        compute().copyToHost(reinterpret_cast<std::byte*>(values.data()), at, count * sizeof(float));
        compute().synchronize();
        return values;
    }

private:
    Stream& compute() { return m_device->stream(Lane::Compute); }

    std::unique_ptr<Device> m_device;
    std::vector<Buffer> m_buffers;
};

using Results = std::vector<std::vector<float>>;

// By rank, what work(card, endpoint) leaves.
template <class Work>
Results onCards(int ranks, bool shared, Work work) {
    const cuda::CudaBackend backend(8, {.nccl = LOCKSTEP_FAKE_NCCL});
    const auto cards = choices(ranks, shared);
    RankTeam team(backend.makeGroup(cards));
    Results results(static_cast<std::size_t>(ranks));
    team.expect([&](Collective& group) {
        const auto rank = static_cast<std::size_t>(group.rank());
        Card card(backend, cards[rank]);
        results[rank] = work(card, group);
        group.barrier();  // nobody reads memory of another rank any more
    });
    return results;
}

template <class Work>
Results onHost(int ranks, Work work) {
    RankTeam team(ranks);
    Results results(static_cast<std::size_t>(ranks));
    team.expect([&](Collective& group) {
        results[static_cast<std::size_t>(group.rank())] = work(group);
        group.barrier();
    });
    return results;
}

bool isNear(const std::vector<float>& a, const std::vector<float>& b, bool bits) {
    if (a.size() != b.size()) return false;
    if (bits) return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (std::abs(a[i] - b[i]) > 1e-2f) return false;
    return true;
}

}  // namespace

// Collectives over memory of cards that the host stands in for, beside those of the host group: ranks that share a
// card, which sum in the host's order, and ranks with a card each through what stands in for NCCL.
class TestCudaGroups : public QObject {
    Q_OBJECT
private slots:
    void collectives_data() {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<bool>("shared");
        QTest::addColumn<int>("count");
        for (const bool shared : {true, false})
            for (const int ranks : {2, 3, 4, 5, 7})
                for (const int count : {1, 6, 1000})
                    QTest::addRow("%d ranks %s, %d", ranks, shared ? "on a card" : "on cards", count)
                        << ranks << shared << count;
    }
    void collectives() {
        QFETCH(int, ranks);
        QFETCH(bool, shared);
        QFETCH(int, count);
        const auto n = static_cast<std::size_t>(count), all = n * static_cast<std::size_t>(ranks);
        const auto check = [&](const char* what, const Results& actual, const Results& expected) {
            for (std::size_t rank = 0; rank < actual.size(); ++rank)
                QVERIFY2(isNear(actual[rank], expected[rank], shared), what);
        };
        check("all-reduce",
              onCards(ranks, shared,
                      [&](Card& card, Collective& group) {
                          std::byte* const at = card.put(valuesOf(group.rank(), n));
                          group.wait(group.allReduce(at, n, DType::F32));
                          return card.get(at, n);
                      }),
              onHost(ranks, [&](Collective& group) {
                  auto values = valuesOf(group.rank(), n);
                  group.wait(group.allReduce(values.data(), n, DType::F32));
                  return values;
              }));
        check("reduce-scatter",
              onCards(ranks, shared,
                      [&](Card& card, Collective& group) {
                          std::byte *const from = card.put(valuesOf(group.rank(), all)), *const to = card.put(
                                                                                             std::vector<float>(n));
                          group.wait(group.reduceScatter(from, to, n, DType::F32));
                          return card.get(to, n);
                      }),
              onHost(ranks, [&](Collective& group) {
                  const auto from = valuesOf(group.rank(), all);
                  std::vector<float> to(n);
                  group.wait(group.reduceScatter(from.data(), to.data(), n, DType::F32));
                  return to;
              }));
        check("all-gather",
              onCards(ranks, shared,
                      [&](Card& card, Collective& group) {
                          std::byte *const from = card.put(valuesOf(group.rank(), n)), *const to = card.put(
                                                                                           std::vector<float>(all));
                          group.wait(group.allGather(from, to, n * sizeof(float)));
                          return card.get(to, all);
                      }),
              onHost(ranks, [&](Collective& group) {
                  const auto from = valuesOf(group.rank(), n);
                  std::vector<float> to(all);
                  group.wait(group.allGather(from.data(), to.data(), n * sizeof(float)));
                  return to;
              }));
        check("broadcast",
              onCards(ranks, shared,
                      [&](Card& card, Collective& group) {
                          std::byte* const at = card.put(valuesOf(group.rank(), n));
                          group.wait(group.broadcast(at, n * sizeof(float), 1));
                          return card.get(at, n);
                      }),
              Results(static_cast<std::size_t>(ranks), valuesOf(1, n)));
    }

    // More than fit into the ring of pending operations, waited for at the end, among others on the host.
    void manyAtOnce_data() {
        QTest::addColumn<bool>("shared");
        QTest::newRow("on a card") << true;
        QTest::newRow("on cards") << false;
    }
    void manyAtOnce() {
        QFETCH(bool, shared);
        constexpr int kOperations = 150;
        const Results results = onCards(3, shared, [&](Card& card, Collective& group) {
            std::vector<std::byte*> at;
            std::vector<double> onHost(kOperations, 1);
            Ticket last;
            for (int i = 0; i < kOperations; ++i) {
                at.push_back(card.put({static_cast<float>(i + group.rank())}));
                last = group.allReduce(at.back(), 1, DType::F32);
                if (i % 10 == 0) last = group.allReduce(&onHost[static_cast<std::size_t>(i)], 1, DType::F64);
            }
            group.wait(last);
            std::vector<float> sums;
            for (const std::byte* each : at) sums.push_back(card.get(each, 1).front());
            for (int i = 0; i < kOperations; i += 10)
                sums.push_back(static_cast<float>(onHost[static_cast<std::size_t>(i)]));
            return sums;
        });
        for (const auto& sums : results) {
            QCOMPARE(sums.size(), std::size_t{kOperations + 15});
            for (int i = 0; i < kOperations; ++i)
                QCOMPARE(sums[static_cast<std::size_t>(i)], static_cast<float>(3 * i + 3));
            for (std::size_t i = kOperations; i < sums.size(); ++i) QCOMPARE(sums[i], 3.0f);
        }
    }

    void subgroupsSumAmongThemselves_data() { manyAtOnce_data(); }
    void subgroupsSumAmongThemselves() {
        QFETCH(bool, shared);
        const Results results = onCards(4, shared, [&](Card& card, Collective& group) {
            const std::vector<int> even{0, 2}, odd{1, 3};
            const auto own = group.subgroup(group.rank() % 2 == 0 ? even : odd);
            std::byte* const at = card.put({static_cast<float>(group.rank())});
            own->wait(own->allReduce(at, 1, DType::F32));
            const auto sum = card.get(at, 1);
            own->barrier();
            return sum;
        });
        for (std::size_t rank = 0; rank < results.size(); ++rank)
            QCOMPARE(results[rank].front(), rank % 2 == 0 ? 2.0f : 4.0f);
    }

    // What ranks of one card record together is one graph, with the same bits whenever it runs; what one of them cannot
    // record is done as it comes.
    void ranksOfACardRecordTogether() {
        constexpr std::size_t kCount = 100;
        constexpr int kRounds = 6;
        const auto reduceTwice = [](Collective& group, void* at) {
            const Ticket first = group.allReduce(at, kCount, DType::F32);
            group.wait(first);
            group.wait(group.allReduce(at, kCount, DType::F32));
        };
        const std::size_t before = host_cuda::graphLaunches();
        const Results results = onCards(3, true, [&](Card& card, Collective& group) {
            if (group.recorded() != Recorded::Together) throw std::runtime_error("not together");
            std::byte* const at = card.put(valuesOf(group.rank(), kCount));
            for (int round = 0; round < kRounds; ++round) {
                const bool isLate = round == 0 && group.rank() == 2;
                const std::uint64_t work = round == 4 && group.rank() == 1 ? 2 : 1;  // another work of the same kind
                const auto put = [&] { reduceTwice(group, at); };
                if (group.agree(isLate ? 0 : work) != (round > 0)) throw std::runtime_error("agreed otherwise");
                if (round > 0) group.together(put);
                else put();
            }
            return card.get(at, kCount);
        });
        QCOMPARE(host_cuda::graphLaunches() - before, std::size_t{kRounds - 1});
        const Results expected = onHost(3, [&](Collective& group) {
            auto values = valuesOf(group.rank(), kCount);
            for (int round = 0; round < kRounds; ++round) reduceTwice(group, values.data());
            return values;
        });
        for (std::size_t rank = 0; rank < results.size(); ++rank) QVERIFY(isNear(results[rank], expected[rank], true));
    }

    void aRankThatFailsWhileAllRecordEndsTheOthers() {
        const cuda::CudaBackend backend(1);
        const auto cards = choices(3, true);
        for (int failing = 0; failing < 3; ++failing) {
            RankTeam team(backend.makeGroup(cards));
            const auto failures = team.run([&](Collective& group) {
                Card card(backend, cards[static_cast<std::size_t>(group.rank())]);
                std::byte* const at = card.put(std::vector<float>(8));
                group.agree(1);
                group.together([&] {
                    group.wait(group.allReduce(at, 8, DType::F32));
                    if (group.rank() == failing) {
                        group.abort({failing, "device", "test", "as it wanted"});
                        throw EngineError(EngineError::Kind::Device, "test", "as it wanted");
                    }
                    group.wait(group.allReduce(at, 8, DType::F32));
                });
            });
            for (int rank = 0; rank < 3; ++rank) {
                const std::exception_ptr& failure = failures[static_cast<std::size_t>(rank)];
                QVERIFY(failure);
                try {
                    std::rethrow_exception(failure);
                } catch (const EngineError& error) {
                    QCOMPARE(error.kind(), rank == failing ? EngineError::Kind::Device : EngineError::Kind::Aborted);
                }
            }
        }
    }

    void ranksThatDisagreeAreNamed() {
        const cuda::CudaBackend backend(8);
        const auto cards = choices(2, true);
        RankTeam team(backend.makeGroup(cards));
        const auto failures = team.run([&](Collective& group) {
            Card card(backend, cards[static_cast<std::size_t>(group.rank())]);
            std::byte* const at = card.put(std::vector<float>(8));
            group.wait(group.allReduce(at, group.rank() == 0 ? 8 : 4, DType::F32));
        });
        for (const std::exception_ptr& failure : failures) {
            QVERIFY(failure);
            try {
                std::rethrow_exception(failure);
            } catch (const EngineError& error) {
                QCOMPARE(error.kind(), EngineError::Kind::Collective);
                QVERIFY2(
                    QString(error.what()).contains("rank 0 started all-reduce of 8 f32, rank 1 all-reduce of 4 f32"),
                    error.what());
            }
        }
    }

    // A rank that waits for another on the host does not look at its card: whoever watches does, unless the rank was in
    // time to see it.
    void errorsOnTheCardAreSeenFromOutside() {
        void* const library = dlopen(LOCKSTEP_FAKE_NCCL, RTLD_NOW | RTLD_LOCAL);
        const auto setFault = reinterpret_cast<FakeNcclSetFault*>(dlsym(library, "fakeNcclSetFault"));
        setFault(kFailsOnCard, 0, 0);
        const cuda::CudaBackend backend(2, {.nccl = LOCKSTEP_FAKE_NCCL});
        const auto cards = choices(2, false);
        const auto group = backend.makeGroup(cards);
        std::atomic<bool> isSeen{false};
        std::vector<std::thread> ranks;
        for (std::size_t rank = 0; rank < 2; ++rank) {
            ranks.emplace_back([&, rank] {
                Card card(backend, cards[rank]);
                Collective& own = *group[rank];
                try {
                    own.wait(own.allReduce(card.put({1, 2, 3}), 3, DType::F32));
                    if (rank == 0) own.barrier();
                    card.get(card.put({1}), 1);  // behind the all-reduce
                } catch (const EngineError& error) {
                    if (error.where().starts_with("NCCL")) isSeen = true;
                }
            });
        }
        std::optional<AbortCause> failure;
        for (int tries = 0; tries < 5000 && !failure && !isSeen; ++tries) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            failure = group[0]->failure();
            QVERIFY(!group[1]->failure());
        }
        group[0]->abort(failure.value_or(AbortCause{1, "collective", "test", "nothing was found"}));
        for (std::thread& rank : ranks) rank.join();
        setFault(kNoFault, -1, 0);
        QVERIFY(failure || isSeen);
        if (!failure) return;
        QCOMPARE(failure->rank, 0);
        QVERIFY2(failure->what.ends_with("as the test wanted"), failure->what.c_str());
    }

    void moreRanksThanACardTakesAreRefused() {
        const cuda::CudaBackend backend(1);
        QVERIFY_EXCEPTION_THROWN(backend.makeGroup(choices(40, true)), EngineError);
        QVERIFY(backend.makeGroup(choices(1, true)).empty());
    }
};

QTEST_APPLESS_MAIN(TestCudaGroups)
#include "tst_cuda_groups.moc"
