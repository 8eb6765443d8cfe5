#include "ui/compare/compare_views.h"

#include "ui/compare/curves_view.h"
#include "ui/compare/diff_view.h"
#include "ui/compare/heat_map_view.h"
#include "ui/compare/importance_view.h"
#include "ui/compare/parallel_view.h"
#include "ui/compare/progress_view.h"
#include "ui/compare/race_view.h"
#include "ui/compare/rung_view.h"
#include "ui/compare/scatter_view.h"

namespace lockstep::ui {

std::vector<PlacedView> makeCompareViews(HistoryService* history, TrialSelection* selection) {
    return {
        {new ProgressView(selection)},
        {new ImportanceView(selection)},
        {new ParallelView(selection), true},
        {new CurvesView(history, selection), true},
        {new HeatMapView(selection)},
        {new ScatterView(selection)},
        {new RungView(selection), true},
        {new DiffView(history, selection), true},
        {new RaceView(history, selection), true},
    };
}

}  // namespace lockstep::ui
