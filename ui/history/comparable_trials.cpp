#include "ui/history/comparable_trials.h"

#include "engine/spec/kept_checkpoints.h"

namespace lockstep::ui {

namespace {

bool hasModel(const TrialService& trials, const TrialRow& row) {
    const auto state = runStateFrom(row.state);
    if (state != RunState::Finished && state != RunState::Running) return false;
    return !checkpointsIn(trials.places().run(row.id) / "checkpoints").empty();
}

}  // namespace

std::vector<std::int64_t> comparableTrials(TrialService& trials, std::int64_t trial) {
    const TrialQuery& query = trials.query();
    std::vector<std::int64_t> found;
    const auto shown = query.find(trial);
    if (!shown) return found;
    const std::int64_t classes = query.countedClasses(trial);
    for (const TrialRow& each : query.list({})) {
        const bool isOther = each.id != trial && each.dataset == shown->dataset;
        if (isOther && hasModel(trials, each) && query.countedClasses(each.id) == classes) found.push_back(each.id);
    }
    return found;
}

}  // namespace lockstep::ui
