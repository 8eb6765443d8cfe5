#include "app/train_run.h"

#include "app/stop_signals.h"

namespace lockstep {

int exitStatusOf(const RunFailed& failed) { return problemIn(failed) ? kBadRequest : kFailed; }

int exitStatusOf(const RunResult& result) {
    switch (result.outcome) {
        case RunResult::Outcome::Finished: return kDone;
        case RunResult::Outcome::Stopped: return kStopped;
        case RunResult::Outcome::Failed: return exitStatusOf(result.failed);
    }
    return kFailed;
}

int watchRun(Context& context, bool json, const StartRun& start) {
    context.environment();  // before the signals: plugins are probed in child processes
    RunControl control;
    RunPrinter printer(RunPrinter::styleFor(json), context.words());
    Result<RunResult> result = Problem{};
    {
        const StopSignals signals(control);
        PrintingSink terminal(printer);
        result = start(control, terminal);
    }
    return result.ok() ? exitStatusOf(result.value()) : context.report(result.problems());
}

}  // namespace lockstep
