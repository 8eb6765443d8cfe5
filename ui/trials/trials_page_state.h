#pragma once
#include <QString>
#include <optional>

#include "ui/style/explanation.h"
#include "ui/style/page.h"
#include "ui/trials/trial_filter_proxy.h"

namespace lockstep::ui {

// What the page of trials knows when it decides what to show.
struct TrialsPageState {
    bool loaded = false;                     // the history was read, or is known to be absent
    int total = 0, shown = 0, selected = 0;  // trials anywhere, in the table, selected there
    Shelf shelf = Shelf::Current;
    QString filter;
    std::optional<Explanation> unreadable;
    int orphans = 0;  // run folders with trials, where the history has none
};

// What stands where the table would be empty; empty: show the table. Two of its ways are the page's own.
inline constexpr auto kClearFilter = "trials.clear-filter", kShowCurrent = "trials.show-current";
std::optional<EmptyState> emptyTrials(const TrialsPageState& now);

QString countText(const TrialsPageState& now);  // "9,812 trials, 3 selected"

}  // namespace lockstep::ui
