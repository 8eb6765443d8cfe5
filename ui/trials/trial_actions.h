#pragma once
#include <span>

#include "engine/history/trial_query.h"

namespace lockstep::ui {

// What may be done with the selected trials; every action of the page is a function of this.
struct TrialActions {
    // Of one trial.
    bool open = false, evaluate = false, clone = false, copyCommand = false, saveCard = false, resume = false;
    bool star = false, tag = false, archive = false, unarchive = false, trash = false, restore = false;
    bool starred = false;  // all of them have one: the action takes it away
};
TrialActions actionsFor(std::span<const TrialRow* const> selected);

bool isLive(const TrialRow& row);  // an engine has it; it cannot be thrown away

}  // namespace lockstep::ui
