#pragma once
#include <QString>
#include <optional>

#include "ui/style/explanation.h"
#include "ui/trials/trial_filter_proxy.h"

namespace lockstep::ui {

// What the page of trials knows when it decides what to show.
struct TrialsSituation {
    bool loaded = false;                     // the history was read, or is known to be absent
    int total = 0, shown = 0, selected = 0;  // trials anywhere, in the table, selected there
    Shelf shelf = Shelf::Current;
    QString filter;
    std::optional<Explanation> unreadable;
};

// What stands where the table would be empty.
struct EmptyTrials {
    enum class Remedy { None, Train, ClearFilter, ShowCurrent };
    QString title, text, button;  // button: empty without a remedy
    Remedy remedy = Remedy::None;
};
std::optional<EmptyTrials> emptyTrials(const TrialsSituation& now);  // empty: show the table

QString countText(const TrialsSituation& now);  // "9,812 trials, 3 selected"

}  // namespace lockstep::ui
