#include "ui/compare/compare_views.h"

#include "ui/compare/progress_view.h"

namespace lockstep::ui {

std::vector<PlacedView> makeCompareViews(HistoryService*, TrialSelection* selection) {
    return {{new ProgressView(selection), true}};
}

}  // namespace lockstep::ui
