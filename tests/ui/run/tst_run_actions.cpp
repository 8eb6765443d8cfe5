#include <QtTest>

#include "ui/run/live_text.h"
#include "ui/run/run_actions.h"

using namespace lockstep;
using namespace lockstep::ui;

class TestRunActions : public QObject {
    Q_OBJECT
private slots:
    // One row a state; columns: pause, resume, finish this epoch, stop now, kill, resume from checkpoint, devices,
    // balance.
    void theTable() {
        const std::pair<RunState, const char*> rows[] = {
            {RunState::Queued, "--------"},  {RunState::Preparing, "---sk---"}, {RunState::Running, "p-fsk-db"},
            {RunState::Paused, "-r-sk-db"},  {RunState::Stopping, "----k---"},  {RunState::Finished, "--------"},
            {RunState::Stopped, "-----c--"}, {RunState::Failed, "-----c--"},    {RunState::Cancelled, "-----c--"},
            {RunState::Crashed, "-----c--"},
        };
        for (const auto& [state, wanted] : rows) {
            QString got;
            for (std::size_t i = 0; i < kRunActions.size(); ++i) {
                got += RunActions(state).enabled(kRunActions[i]) ? "prfskcdb"[i] : '-';
            }
            QCOMPARE(got, QString(wanted));
        }
    }

    void withoutACheckpointNothingIsResumed() {
        for (const RunState state : {RunState::Stopped, RunState::Failed, RunState::Crashed}) {
            QVERIFY(!RunActions(state, false).enabled(RunAction::ResumeFromCheckpoint));
            QVERIFY(RunActions(state, false).shown(RunAction::ResumeFromCheckpoint));
        }
    }

    void oneDeviceIsNotBalanced() {
        for (const RunState state : {RunState::Running, RunState::Paused}) {
            QVERIFY(!RunActions(state, true, false).enabled(RunAction::Balance));
            QVERIFY(RunActions(state, true, false).enabled(RunAction::Scale));
        }
    }

    void whatIsEnabledIsShown() {
        for (int s = 0; s <= static_cast<int>(RunState::Crashed); ++s) {
            const RunActions actions(static_cast<RunState>(s));
            for (const RunAction action : kRunActions) QVERIFY(!actions.enabled(action) || actions.shown(action));
            QVERIFY(!(actions.shown(RunAction::Pause) && actions.shown(RunAction::Resume)));
        }
    }

    void whatWasAskedForIsSaid() {
        QCOMPARE(liveState(RunState::Running, RunAction::FinishEpoch), QString("Finishing this epoch…"));
        QCOMPARE(liveState(RunState::Running, {}), QString("Running"));
        QCOMPARE(liveState(RunState::Crashed, RunAction::Kill), QString("Crashed"));
    }
};

QTEST_APPLESS_MAIN(TestRunActions)
#include "tst_run_actions.moc"
