#include <QtTest>

#include <chrono>

#include "engine/core/error.h"
#include "tests/collective/rank_team.h"

using namespace lockstep;
using namespace std::chrono_literals;

namespace {

std::optional<EngineError> engineError(const std::exception_ptr& failure) {
    try {
        if (failure) std::rethrow_exception(failure);
    } catch (const EngineError& error) {
        return error;
    }
    return std::nullopt;
}

using Act = std::function<void(Collective&)>;

// Everything a rank can be stuck in while one rank does not take part.
const std::vector<std::pair<const char*, Act>>& waits() {
    static const std::vector<std::pair<const char*, Act>> kWaits = {
        {"all-reduce",
         [](Collective& group) {
             std::vector<float> data(100000);
             group.wait(group.allReduce(data.data(), data.size(), DType::F32));
         }},
        {"barrier", [](Collective& group) { group.barrier(); }},
        {"broadcast",
         [](Collective& group) {
             std::vector<std::byte> data(10);
             group.wait(group.broadcast(data.data(), data.size(), 0));
         }},
        {"full ring",
         [](Collective& group) {
             std::vector<double> data(1000);
             for (auto& each : data) group.allReduce(&each, 1, DType::F64);
         }},
        {"subgroup",
         [](Collective& group) {
             std::vector<int> all(static_cast<std::size_t>(group.size()));
             for (int rank = 0; rank < group.size(); ++rank) all[static_cast<std::size_t>(rank)] = rank;
             group.subgroup(all)->barrier();
         }},
        {"progress",
         [](Collective& group) {
             for (;;) group.progress();
         }},
    };
    return kWaits;
}

}  // namespace

class TstHostGroupFaults : public QObject {
    Q_OBJECT

private slots:
    // The culprit aborts from its own thread; everybody else is stuck in something else.
    void anAbortWakesEveryWait() {
        for (int culprit = 0; culprit < 4; ++culprit) {
            for (std::size_t shift = 0; shift < waits().size(); ++shift) {
                RankTeam team(4);
                std::chrono::steady_clock::time_point aborted;
                const auto failures = team.run([&](Collective& group) {
                    if (group.rank() != culprit) return waits()[shift].second(group);
                    std::this_thread::sleep_for(5ms);
                    aborted = std::chrono::steady_clock::now();
                    group.abort({culprit, "device", "conv2d here", "it broke"});
                });
                QVERIFY2(std::chrono::steady_clock::now() - aborted < 1s, waits()[shift].first);
                for (int rank = 0; rank < 4; ++rank) {
                    const auto error = engineError(failures[static_cast<std::size_t>(rank)]);
                    QCOMPARE(error.has_value(), rank != culprit);
                    if (error) QCOMPARE(error->kind(), EngineError::Kind::Aborted);
                    QCOMPARE(team[rank].abortCause().rank, culprit);
                    QCOMPARE(team[rank].abortCause().what, std::string("it broke"));
                }
            }
        }
    }

    void theFirstCauseStays() {
        RankTeam team(2);
        team[1].abort({1, "io", "a", "first"});
        team[0].abort({0, "io", "b", "second"});
        QCOMPARE(team[0].abortCause().what, std::string("first"));
        QVERIFY_THROWS_EXCEPTION(EngineError, team[0].barrier());
    }

    void anAbortFromAnOutsideThread() {
        RankTeam team(3);
        std::jthread outside([&] {
            std::this_thread::sleep_for(20ms);
            team[2].abort({2, "device", "", "unplugged"});
        });
        for (const auto& failure : team.run([](Collective& group) {
                 for (;;) group.barrier();
             })) {
            QVERIFY(engineError(failure).has_value());
        }
    }

    // Ranks free the memory they gave to the group right after an abort; a sanitizer build would see a late touch.
    void memoryIsLetGo() {
        for (int round = 0; round < 50; ++round) {
            RankTeam team(4);
            team.run([&](Collective& group) {
                auto data = std::make_unique<std::vector<float>>(200000, 1.0f);
                try {
                    group.allReduce(data->data(), data->size(), DType::F32);
                    if (group.rank() == round % 4) throw EngineError(EngineError::Kind::Device, "here", "broken");
                    group.wait(group.allReduce(data->data(), data->size(), DType::F32));
                } catch (const EngineError& error) {
                    group.abort({group.rank(), "device", error.where(), error.what()});
                }
                data.reset();
            });
            QCOMPARE(team[0].abortCause().rank, round % 4);
        }
    }

    void differencesAreFoundByAll_data() {
        QTest::addColumn<int>("kind");
        QTest::newRow("size") << 0;
        QTest::newRow("type") << 1;
        QTest::newRow("operation") << 2;
        QTest::newRow("root") << 3;
    }

    void differencesAreFoundByAll() {
        QFETCH(int, kind);
        RankTeam team(3);
        const auto failures = team.run([&](Collective& group) {
            double data[4] = {};
            const bool odd = group.rank() == 2;
            if (kind == 3) return group.wait(group.broadcast(data, 8, odd ? 1 : 0));
            if (kind == 2 && odd) return group.barrier();
            group.wait(group.allReduce(data, kind == 0 && odd ? 3 : 4, kind == 1 && odd ? DType::I64 : DType::F64));
        });
        for (const auto& failure : failures) {
            const auto error = engineError(failure);
            QVERIFY(error.has_value());
            QCOMPARE(error->kind(), EngineError::Kind::Collective);
            const QString what = error->what();
            QVERIFY2(what.contains("rank 0") && what.contains("rank 2"), error->what());
        }
    }

    void messagesOfAnotherSizeAreRefused() {
        RankTeam team(2);
        const auto failures = team.run([&](Collective& group) {
            int data = 0;
            if (group.rank() == 0) return static_cast<void>(group.send(&data, 4, 1));
            group.wait(group.receive(&data, 3, 0));
        });
        const auto error = engineError(failures[1]);
        QVERIFY(error.has_value());
        QVERIFY(QString(error->what()).contains("rank 0 sent 4 bytes"));
    }

    void impossibleRanksAreRefused() {
        RankTeam team(2);
        int data = 0;
        QVERIFY_THROWS_EXCEPTION(EngineError, team[0].broadcast(&data, 4, 2));
        QVERIFY_THROWS_EXCEPTION(EngineError, team[0].send(&data, 4, -1));
        QVERIFY_THROWS_EXCEPTION(EngineError, team[0].subgroup(std::vector{1}));
        QVERIFY_THROWS_EXCEPTION(EngineError, team[0].subgroup(std::vector{1, 0}));
        QVERIFY_THROWS_EXCEPTION(EngineError, team[0].subgroup(std::vector{0, 5}));
    }
};

QTEST_APPLESS_MAIN(TstHostGroupFaults)
#include "tst_host_group_faults.moc"
