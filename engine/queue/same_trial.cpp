#include "engine/queue/same_trial.h"

#include <algorithm>

#include "engine/trials/judged_state.h"

namespace lockstep {

namespace {

std::vector<Setting> settingsOf(const TrialSpec& spec, const Cell& cell) {
    Cell settings = cell;
    std::erase_if(settings, [](const Setting& each) { return each.path == "seed"; });
    settings.push_back({"seed", static_cast<double>(spec.seed)});
    settings.push_back({"model", spec.model.id});
    settings.push_back({"dataset", spec.dataset.id});
    std::ranges::sort(settings, {}, &Setting::path);
    const auto same = std::ranges::unique(settings, {}, &Setting::path);
    settings.erase(same.begin(), same.end());
    return settings;
}

bool trainsTheSame(const TrialQuery& query, std::int64_t trial, const TrialSpec& spec) {
    auto known = query.spec(trial);
    if (!known.ok()) return false;
    known.value().title = spec.title;
    return known.value() == spec;
}

// A row that says so though no engine has it is that of a crash.
bool isOnItsWay(const QueueQuery::Whereabouts& at, bool isTaken) {
    if (at.isDeleted || at.isHeld) return false;
    const bool runs = isTaken && at.state && isUnderWay(*at.state) && at.state != RunState::Stopping;
    return at.isQueued || runs;
}

std::string refusalOf(std::int64_t trial, const std::string& why) {
    return "trial " + std::to_string(trial) + " trains the same and is not adopted: " + why;
}

}  // namespace

SameTrial sameTrial(const TrialQuery& query, const TrialSpec& spec, const Cell& cell, bool finishedOnly,
                    const IsTaken& isTaken) {
    const QueueQuery queue(query);
    const auto settings = settingsOf(spec, cell);
    for (const std::int64_t trial : queue.finishedWith(settings)) {
        if (trainsTheSame(query, trial, spec)) return {.trial = trial, .hasFinished = true};
    }
    SameTrial found;
    for (const std::int64_t trial : queue.openWith(settings)) {
        if (!trainsTheSame(query, trial, spec)) continue;
        const bool taken = isTaken(trial);  // before the row: see judged_state.h
        const auto at = queue.whereabouts(trial);
        if (!at) continue;
        if (at->sweep)
            found.refusal = refusalOf(trial, "sweep " + std::to_string(*at->sweep) + ", which is not over, has it");
        else if (at->isHeld) found.refusal = refusalOf(trial, "it is held");
        else if (finishedOnly) found.refusal = refusalOf(trial, "cells of this sweep pause at rungs, and it does not");
        else if (isOnItsWay(*at, taken)) return {.trial = trial};
    }
    return found;
}

bool mayStayAdopted(const TrialQuery& query, std::int64_t trial, const IsTaken& isTaken) {
    const bool taken = isTaken(trial);
    const auto at = QueueQuery(query).whereabouts(trial);
    return at && (at->state == RunState::Finished || isOnItsWay(*at, taken));
}

}  // namespace lockstep
