#pragma once
#include <QString>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ui/compare/compare_scene.h"
#include "ui/history/trial_selection.h"

namespace lockstep::ui {

// Trials that differ in their seed alone, as one curve shows them: those that pass or are pinned, as in every other
// view. Where a brush leaves some of them out, the name says of how many the mean is.
struct CurveGroup {
    std::int64_t group = 0;              // ComparedTrial::group
    std::vector<std::size_t> rows = {};  // its members that are shown, in the table's order
    std::size_t members = 0;             // with those that are not
    std::size_t lead = 0;           // whom pointer and clicks mean, by row: the first pinned, or the best that passes
    std::optional<int> place = {};  // of its only pinned member: the mean has its colour
    std::map<std::size_t, int> apart = {};  // of several pinned members, by row: each has a curve of its own
    std::optional<int> rank = {};           // among the best, from 0; empty: not one of them, or any is pinned
    double objective = 0;                   // mean of those that have a value; not a number: none has
    bool isCutShort = false;                // every member that has not failed ended, or pauses, before its last epoch
    QString name = {};                      // "#12 learning_rate=0.01", "#12 (3 seeds) learning_rate=0.01"

    bool isColoured() const { return place || rank; }
    int look() const;  // seriesColor, seriesMarker: of its place, or one that no place has
};

constexpr int kBestGroups = 10;  // in colour; more nobody can tell apart

// Those that are shown, the best first, those cut short behind the others. Where trials are pinned, these alone have
// colours: nobody takes another for one of them.
std::vector<CurveGroup> curveGroups(const CompareScene& scene, const TrialSelection& selection);

}  // namespace lockstep::ui
