#pragma once
#include <vector>

#include "ui/compare/compare_view.h"

namespace lockstep::ui {

// A view and its place on the page: a wide one has a row of its own.
struct PlacedView {
    CompareView* view;
    bool isWide = false;
};

// All views of a comparison, in the order of the page; to be owned by its cards.
std::vector<PlacedView> makeCompareViews(HistoryService* history, TrialSelection* selection);

}  // namespace lockstep::ui
