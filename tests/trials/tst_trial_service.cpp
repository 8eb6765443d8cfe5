#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <array>
#include <barrier>
#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/session/session_server.h"
#include "engine/trials/control.h"
#include "engine/trials/judged_state.h"
#include "engine/trials/trial_service.h"

using namespace lockstep;

namespace {

namespace fs = std::filesystem;

struct Home {
    Home() {
        const fs::path base = folder.path().toStdString();
        places = {base, base / "cache", base / "sockets", base / "config"};
        if (!preparePlaces(places).ok()) qFatal("no home");
    }
    std::int64_t add(TrialService& trials, RunState state) const {
        const auto trial = trials.create({});
        fs::create_directories(places.run(trial));
        if (state != RunState::Queued) trials.store().setState(trial, state);
        return trial;
    }
    Lease hold(std::int64_t trial) const { return std::move(*Lease::tryAcquire(places.lease(trial))); }

    QTemporaryDir folder;
    Places places;
};

std::vector<std::string> statesOf(const std::vector<TrialRow>& rows) {
    std::vector<std::string> states;
    for (const auto& row : rows) states.push_back(row.state);
    return states;
}

template <class Work>
std::string codeOf(Work&& work) {
    try {
        work();
    } catch (const ProblemError& error) {
        return error.problem().code;
    }
    return {};
}

}  // namespace

class TestTrialService : public QObject {
    Q_OBJECT
private slots:
    void rowAndLeaseJudgeTheState_data() {
        QTest::addColumn<int>("state");
        QTest::addColumn<bool>("held");
        QTest::addColumn<QString>("judged");
        for (const auto state : {RunState::Preparing, RunState::Running, RunState::Paused, RunState::Stopping}) {
            const QString name = QString::fromStdString(std::string(text(state)));
            QTest::newRow(qPrintable(name + ", held")) << static_cast<int>(state) << true << name;
            QTest::newRow(qPrintable(name + ", free")) << static_cast<int>(state) << false << "crashed";
        }
        for (const auto state : {RunState::Queued, RunState::Finished, RunState::Stopped, RunState::Failed,
                                 RunState::Cancelled, RunState::Crashed}) {
            const QString name = QString::fromStdString(std::string(text(state)));
            for (const bool held : {true, false}) {
                QTest::newRow(qPrintable(name + (held ? ", held" : ", free")))
                    << static_cast<int>(state) << held << name;
            }
        }
    }
    void rowAndLeaseJudgeTheState() {
        QFETCH(int, state);
        QFETCH(bool, held);
        QFETCH(QString, judged);
        TrialRow row;
        row.state = text(static_cast<RunState>(state));
        QCOMPARE(QString::fromStdString(std::string(text(judgedState(row, held)))), judged);

        const Home home;
        TrialService trials(home.places);
        const auto trial = home.add(trials, static_cast<RunState>(state));
        std::optional<Lease> lease;
        if (held) lease = home.hold(trial);
        QCOMPARE(QString::fromStdString(trials.row(trial).state), judged);
        QCOMPARE(QString::fromStdString(trials.list({}).front().state), judged);
        QCOMPARE(trials.query().find(trial)->state, row.state);  // looking writes nothing
        trials.settleCrashed();
        QCOMPARE(QString::fromStdString(trials.query().find(trial)->state), judged);
    }

    // In the trash as well, and where somebody has tidied up the run's folder.
    void everyCrashedRowIsSettled() {
        const Home home;
        TrialService trials(home.places);
        for (int i = 0; i < 3; ++i) home.add(trials, RunState::Running);
        const auto lease = home.hold(1);
        trials.store().deleteTrial(2, false);
        fs::remove_all(home.places.run(3));
        trials.settleCrashed();
        QCOMPARE(trials.query().find(1)->state, std::string("running"));
        QCOMPARE(trials.query().find(2)->state, std::string("crashed"));
        QCOMPARE(trials.query().find(3)->state, std::string("crashed"));
    }

    // Whoever writes a state has read the row before: of two of them one does, however they meet.
    void ofTwoWhoWriteAStateOneDoes() {
        const Home home;
        constexpr int kTrials = 60;
        {
            TrialService trials(home.places);
            for (int i = 0; i < kTrials; ++i) home.add(trials, RunState::Queued);
            for (int i = 1; i <= kTrials; i += 2) fs::remove_all(home.places.run(i));  // there is no lease to be had
        }
        std::array<std::vector<std::int64_t>, 2> won;
        std::barrier begin(2);
        const auto write = [&](std::size_t who, RunState state) {
            TrialService own(home.places);  // with connections of its own
            own.store();
            for (std::int64_t trial = 1; trial <= kTrials; ++trial) {
                const auto seen = *own.query().find(trial);
                begin.arrive_and_wait();
                if (own.changeState(seen, state)) won[who].push_back(trial);
            }
        };
        std::thread other([&] { write(1, RunState::Crashed); });
        write(0, RunState::Cancelled);
        other.join();
        TrialService trials(home.places);
        for (std::int64_t trial = 1; trial <= kTrials; ++trial) {
            const bool first = std::ranges::count(won[0], trial) > 0, second = std::ranges::count(won[1], trial) > 0;
            QVERIFY2(!(first && second), "both have written");
            const std::string expected = first ? "cancelled" : second ? "crashed" : "queued";
            QCOMPARE(trials.query().find(trial)->state, expected);
            QVERIFY2(first || second || trial % 2 == 0, "nobody has written");
        }
    }

    // By its row, or by its lease.
    void whatHasChangedIsNotWritten() {
        const Home home;
        TrialService trials(home.places), engine(home.places);
        const Problem why{"batch", "spec.out-of-range", {"0"}};
        const auto trial = home.add(trials, RunState::Queued);
        const auto seen = *trials.query().find(trial);
        {
            const auto lease = home.hold(trial);
            QVERIFY(!trials.changeState(seen, RunState::Cancelled));
            QVERIFY(!trials.fail(seen, why) && !trials.cancelQueued(trial));
        }
        engine.store().setState(trial, RunState::Preparing);
        QVERIFY(!trials.changeState(seen, RunState::Cancelled) && !trials.fail(seen, why));
        QVERIFY(!trials.cancelQueued(trial));
        engine.store().setState(trial, RunState::Queued);
        engine.store().beginAttempt(trial, 0);  // the same word for another state
        QVERIFY(!trials.changeState(seen, RunState::Cancelled) && !trials.fail(seen, why));
        QVERIFY(!trials.store().deleteTrial({trial, "queued", 0}, true));
        QCOMPARE(trials.row(trial).state, std::string("queued"));
        QCOMPARE(trials.row(trial).attempts, std::int64_t{1});
        QVERIFY(trials.cancelQueued(trial) && !trials.cancelQueued(trial));
        QVERIFY(trials.fail(*trials.query().find(trial), why));
        QCOMPARE(trials.row(trial).state, std::string("failed"));
        QCOMPARE(problemIn(trials.query().failure(trial).value()), std::optional(why));
        QVERIFY(!trials.changeState(seen, RunState::Cancelled));
    }

    // The list was read while the run went on, its lease looked at when it had ended.
    void aRunThatHasJustEndedHasNotCrashed() {
        const Home home;
        TrialService trials(home.places);
        home.add(trials, RunState::Running);
        auto rows = trials.query().list({});
        trials.store().setState(1, RunState::Finished);
        QVERIFY(judge(rows, trials.query(), home.places));
        QCOMPARE(statesOf(rows), std::vector<std::string>{"finished"});
    }

    void aStateOfALaterVersionStays() {
        TrialRow row;
        row.state = "hibernating";
        QCOMPARE(judgedState(row, false), RunState::Queued);
    }

    void whatIsQueuedCanBeCancelledAndDeleted() {
        const Home home;
        TrialService trials(home.places);
        trials.create({});  // without a run directory
        home.add(trials, RunState::Queued);
        QCOMPARE(codeOf([&] { trials.control(1, {"pause"}); }), std::string("trial.not-running"));
        QCOMPARE(trials.control(1, {"stop"}), TrialService::Controlled::Cancelled);
        QCOMPARE(trials.control(2, {"stop-after-epoch"}), TrialService::Controlled::Cancelled);
        QCOMPARE(statesOf(trials.list({})), (std::vector<std::string>{"cancelled", "cancelled"}));
        QVERIFY(!trials.row(1).finishedAt.empty());
        QCOMPARE(codeOf([&] { trials.control(1, {"stop"}); }), std::string("trial.not-running"));

        const auto third = trials.create({});
        trials.moveToTrash(third);
        QVERIFY(trials.row(third).deleted);
        trials.restore(third);
        QVERIFY(!trials.row(third).deleted);
        QVERIFY(!trials.purge(third));
        QCOMPARE(codeOf([&] { trials.row(third); }), std::string("trial.unknown"));
    }

    // An engine has just taken it up, and does not listen yet.
    void whatAnEngineHoldsIsNeitherCancelledNorDeleted() {
        const Home home;
        TrialService trials(home.places);
        home.add(trials, RunState::Queued);
        const auto lease = home.hold(1);
        QCOMPARE(codeOf([&] { trials.control(1, {"stop"}); }), std::string("session.not-running"));
        QCOMPARE(codeOf([&] { trials.moveToTrash(1); }), std::string("trial.running"));
        QCOMPARE(codeOf([&] { trials.purge(1); }), std::string("trial.running"));
        QCOMPARE(trials.row(1).state, std::string("queued"));
        QVERIFY(!trials.row(1).deleted);
    }

    void aPurgedTrialLeavesNoFiles() {
        const Home home;
        TrialService trials(home.places);
        home.add(trials, RunState::Finished);
        std::ofstream(home.places.run(1) / "run.log") << "something";
        QVERIFY(!trials.purge(1));
        QVERIFY(!fs::exists(home.places.run(1)));
        QCOMPARE(codeOf([&] { trials.purge(1); }), std::string("trial.unknown"));
        QCOMPARE(codeOf([&] { trials.restore(1); }), std::string("trial.unknown"));
    }

    void aControlIsAnswered() {
        const Home home;
        TrialService trials(home.places);
        home.add(trials, RunState::Running);
        const auto lease = home.hold(1);
        std::string heard;
        const auto applyControl = [&](const ControlCommand& control) -> std::optional<Problem> {
            heard = control.name;
            if (control.name == "scale-to") return Problem{"batch", "spec.batch-too-small", {"2", "3"}};
            return std::nullopt;
        };
        const auto server = SessionServer::listen(home.places.socket(1), 1, {applyControl});
        QVERIFY(server.ok());
        QCOMPARE(trials.control(1, {"pause"}), TrialService::Controlled::Agreed);
        QCOMPARE(heard, std::string("pause"));
        QCOMPARE(codeOf([&] { trials.control(1, {"scale-to", 3}); }), std::string("spec.batch-too-small"));
    }

    // What a run was told is in its row only when it has come to the end of its step.
    void aRunThatIsAboutToPauseGoesOn() {
        const Home home;
        TrialService trials(home.places);
        home.add(trials, RunState::Running);
        const auto lease = home.hold(1);
        const auto server = SessionServer::listen(home.places.socket(1), 1, {});  // agrees to everything
        QVERIFY(server.ok());
        QVERIFY(trials.goOnInPlace(1, [] { QFAIL("nothing is to be waited for"); }));
    }

    // An engine that resumes says so itself: the row is the stopped run's until the data are open.
    void theRowOfARunThatOpensItsDataDoesNotCount() {
        const Home home;
        TrialService trials(home.places);
        home.add(trials, RunState::Stopped);
        const auto lease = home.hold(1);
        {
            const auto paused = SessionServer::listen(home.places.socket(1), 1, {});
            QVERIFY(paused.ok());
            QVERIFY(trials.goOnInPlace(1, [] { QFAIL("nothing is to be waited for"); }));
        }
        const auto refuse = [](const ControlCommand&) { return Problem{"trial", "run.busy", {"1"}}; };
        const auto server = SessionServer::listen(home.places.socket(1), 1, {refuse});
        QVERIFY(server.ok());
        QCOMPARE(codeOf([&] { trials.goOnInPlace(1, [] { QFAIL("nothing is to be waited for"); }); }),
                 std::string("run.busy"));
    }

    // Nor does it where a run has ended and its last event is on its way into the history.
    void whatARunSaysOfItselfCountsMoreThanItsRow() {
        const Home home;
        TrialService trials(home.places);
        home.add(trials, RunState::Running);
        std::optional<Lease> lease = home.hold(1);
        const auto refuse = [](const ControlCommand&) { return Problem{"trial", "run.busy", {"1"}}; };
        const auto server = SessionServer::listen(home.places.socket(1), 1, {refuse});
        QVERIFY(server.ok());
        server.value()->post(1, StateChanged{"stopping", 5});
        int waits = 0;
        QVERIFY(!trials.goOnInPlace(1, [&] {
            ++waits;
            lease.reset();
        }));
        QCOMPARE(waits, 1);
    }

    void aRunThatNobodyPausedIsBusy() {
        const Home home;
        TrialService trials(home.places);
        home.add(trials, RunState::Running);
        const auto lease = home.hold(1);
        const auto refuse = [](const ControlCommand&) { return Problem{"trial", "run.busy", {"1"}}; };
        const auto server = SessionServer::listen(home.places.socket(1), 1, {refuse});
        QVERIFY(server.ok());
        QCOMPARE(codeOf([&] { trials.goOnInPlace(1, [] {}); }), std::string("run.busy"));
    }

    void aRunThatIsAboutToEndIsWaitedFor_data() {
        QTest::addColumn<int>("state");
        QTest::newRow("told to stop") << static_cast<int>(RunState::Running);
        QTest::newRow("stopping") << static_cast<int>(RunState::Stopping);
        QTest::newRow("stopped") << static_cast<int>(RunState::Stopped);
    }
    void aRunThatIsAboutToEndIsWaitedFor() {
        QFETCH(int, state);
        const Home home;
        TrialService trials(home.places);
        home.add(trials, static_cast<RunState>(state));
        std::optional<Lease> lease = home.hold(1);
        const auto refuse = [](const ControlCommand&) { return Problem{"trial", "run.stopping", {"1"}}; };
        const auto server = SessionServer::listen(home.places.socket(1), 1, {refuse});
        QVERIFY(server.ok());
        int waits = 0;
        QVERIFY(!trials.goOnInPlace(1, [&] {
            ++waits;
            trials.store().setState(1, RunState::Stopped);
            lease.reset();
        }));
        QCOMPARE(waits, 1);
        QVERIFY(!trials.goOnInPlace(1, [] { QFAIL("nobody holds it any longer"); }));
        QCOMPARE(codeOf([&] { trials.goOnInPlace(9, [] {}); }), std::string("trial.unknown"));
    }

    void answersAreReadWithCare() {
        QCOMPARE(controlAnswerFrom(R"({"ok":"stop"})")->agreed, std::string("stop"));
        const auto refused = controlAnswerFrom(R"({"error":{"field":"shares","code":"x.y","args":["a"]}})");
        QVERIFY(refused && refused->refused == (Problem{"shares", "x.y", {"a"}}));
        for (const char* strange :
             {R"({"error":7})", R"({"error":{"code":3}})", R"({"error":{"field":"a","code":""}})"}) {
            QCOMPARE(controlAnswerFrom(strange)->refused->code, std::string("trial.refused"));
        }
        for (const char* other : {"", "[]", R"({"n":1,"event":"step_done"})", R"({"ok":7})", R"({"dropped":{}})"}) {
            QVERIFY(!controlAnswerFrom(other));
        }
    }

    // As somebody does who was told that the history is damaged.
    void aHistoryThatWasMovedAwayIsNotReadOn() {
        const Home home;
        TrialService trials(home.places);
        QCOMPARE(codeOf([&] { trials.list({}); }), std::string("history.absent"));
        home.add(trials, RunState::Finished);
        QVERIFY(trials.open());
        QVERIFY(!trials.open());
        QCOMPARE(trials.list({}).size(), std::size_t{1});
        for (const char* part : {"", "-wal", "-shm"}) {
            const fs::path file = home.places.history().string() + part;
            if (fs::exists(file)) fs::rename(file, home.places.data / ("old.sqlite" + std::string(part)));
        }
        QCOMPARE(codeOf([&] { trials.list({}); }), std::string("history.absent"));
        const auto next = trials.create({});
        QCOMPARE(trials.list({}).size(), std::size_t{1});
        QCOMPARE(trials.row(next).state, std::string("queued"));
    }
};

QTEST_APPLESS_MAIN(TestTrialService)
#include "tst_trial_service.moc"
