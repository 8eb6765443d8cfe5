#include "engine/train/trainer.h"

#include "engine/collective/host_group.h"
#include "engine/core/error.h"
#include "engine/train/worker.h"

namespace lockstep {

namespace {

std::vector<std::unique_ptr<Collective>> makeGroup(const ResolvedSpec& resolved) {
    auto group = resolved.backend->makeGroup(resolved.devices);
    return group.empty() ? makeHostGroup(static_cast<int>(resolved.devices.size())) : std::move(group);
}

RunResult failed(RunFailed failure, EventLog& events) {
    events.post(failure);
    return {RunResult::Outcome::Failed, {}, std::move(failure)};
}

RunResult finished(const RunFinished& end, EventLog& events) {
    events.post(end);
    const bool stopped = end.outcome == "stopped";
    return {stopped ? RunResult::Outcome::Stopped : RunResult::Outcome::Finished, end, {}};
}

RunFailed failureOf(const AbortCause& cause, std::int64_t step) {
    // What is not finite is a sum over all ranks: it is nobody's in particular.
    const bool everybodys = cause.kind == text(EngineError::Kind::NonFinite);
    return {cause.kind, cause.where, cause.what, everybodys ? -1 : cause.rank, step, cause.args};
}

RunResult runWorkers(const RunContext& run) {
    const auto group = makeGroup(run.resolved);
    std::vector<std::unique_ptr<Worker>> workers;
    std::vector<RankTask*> tasks;
    for (const auto& endpoint : group) {
        tasks.push_back(workers.emplace_back(std::make_unique<Worker>(run, *endpoint)).get());
    }
    const AbortCause cause = runRanks(tasks, group);
    if (cause.rank < 0) return finished(workers.front()->finished(), run.events);
    return failed(failureOf(cause, workers[static_cast<std::size_t>(cause.rank)]->step()), run.events);
}

}  // namespace

RunResult runTrial(const ResolvedSpec& resolved, const DatasetSplits& data, const RunOptions& options,
                   RunControl& control, const std::vector<EventSink*>& sinks) {
    EventLog events(sinks, options.firstEventNumber);
    try {
        const RunPlan plan = planRun(resolved, data.train->info(), data.test->info());
        if (options.onPlan) options.onPlan(plan);
        std::vector<RankTimes> times(resolved.devices.size());
        return runWorkers({resolved, data, plan, options, control, events, times});
    } catch (...) {
        return failed(failureOf(currentCause(-1), 0), events);
    }
}

}  // namespace lockstep
