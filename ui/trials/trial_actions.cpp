#include "ui/trials/trial_actions.h"

#include <algorithm>

#include "engine/spec/run_state.h"

namespace lockstep::ui {

bool isLive(const TrialRow& row) {
    const auto state = runStateFrom(row.state);
    return state && !isFinal(*state);
}

TrialActions actionsFor(std::span<const TrialRow* const> selected) {
    if (selected.empty()) return {};
    const auto all = [&](auto&& holds) { return std::all_of(selected.begin(), selected.end(), holds); };
    const auto any = [&](auto&& holds) { return std::any_of(selected.begin(), selected.end(), holds); };
    const TrialRow& first = *selected.front();
    const bool one = selected.size() == 1, kept = all([](const TrialRow*row) { return !row->deleted; });
    const auto state = runStateFrom(first.state);
    TrialActions actions;
    actions.open = actions.clone = actions.copyCommand = actions.saveCard = one;
    actions.evaluate = one && kept && (first.step > 0 || first.testLoss);
    actions.resume = one && kept && state && next(*state, RunSignal::Attempt);
    actions.star = actions.tag = kept;
    actions.starred = all([](const TrialRow* row) { return row->star; });
    actions.archive = kept && any([](const TrialRow* row) { return !row->archived; });
    actions.unarchive = kept && all([](const TrialRow* row) { return row->archived; });
    actions.trash = kept && any([](const TrialRow* row) { return !isLive(*row); });
    actions.restore = all([](const TrialRow* row) { return row->deleted; });
    return actions;
}

}  // namespace lockstep::ui
