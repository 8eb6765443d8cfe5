#include <QtTest>

#include "engine/spec/run_state.h"

using namespace lockstep;

namespace {

constexpr RunState kStates[] = {RunState::Queued,    RunState::Preparing, RunState::Running, RunState::Paused,
                                RunState::Stopping,  RunState::Finished,  RunState::Stopped, RunState::Failed,
                                RunState::Cancelled, RunState::Crashed};

// One row per state, one column per signal of RunSignal in order; "-" where the signal means nothing.
constexpr const char* kExpected[10][11] = {
    //               prepare      start      pause     resume     stop        finish      stopped    fail      cancel
    //               crash      attempt
    /* queued    */ {"preparing", "-", "-", "-", "-", "-", "-", "failed", "cancelled", "crashed", "-"},
    /* preparing */ {"-", "running", "-", "-", "stopping", "-", "-", "failed", "cancelled", "crashed", "-"},
    /* running   */ {"-", "-", "paused", "-", "stopping", "finished", "-", "failed", "-", "crashed", "-"},
    /* paused    */ {"-", "-", "-", "running", "stopping", "-", "-", "failed", "-", "crashed", "-"},
    /* stopping  */ {"-", "-", "-", "-", "-", "finished", "stopped", "failed", "-", "crashed", "-"},
    /* finished  */ {"-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-"},
    /* stopped   */ {"-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "queued"},
    /* failed    */ {"-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "queued"},
    /* cancelled */ {"-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "queued"},
    /* crashed   */ {"-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "queued"},
};

}  // namespace

class TestRunState : public QObject {
    Q_OBJECT
private slots:
    void everySignalInEveryState() {
        for (std::size_t state = 0; state < 10; ++state) {
            for (int signal = 0; signal < 11; ++signal) {
                const auto after = next(kStates[state], static_cast<RunSignal>(signal));
                const std::string got(after ? text(*after) : "-");
                const auto where = std::string(text(kStates[state])) + ", signal " + std::to_string(signal);
                QVERIFY2(got == kExpected[state][signal], (where + ": " + got).c_str());
            }
        }
    }

    void namesRoundTrip() {
        for (const auto state : kStates) QCOMPARE(runStateFrom(text(state)), std::optional(state));
        QVERIFY(!runStateFrom("runing"));
        QVERIFY(!runStateFrom(""));
    }

    void finalStatesEndTheRun() {
        for (const auto state : kStates) QCOMPARE(isFinal(state), !next(state, RunSignal::Crash).has_value());
    }
};

QTEST_APPLESS_MAIN(TestRunState)
#include "tst_run_state.moc"
