#pragma once
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "ui/compare/curve_groups.h"
#include "ui/compare/member_curve.h"
#include "ui/history/mean_curve.h"
#include "ui/plot/plot_model.h"

namespace lockstep::ui {

// Makes what a plot of groups shows: those in colour as its series, with bands; the others as grey lines behind them.
// The key of a line is the trial that it speaks of. Means of curves that did not change are the same objects as before.
// GUI thread.
class CurveLines {
public:
    struct Wish {
        std::optional<BandKind> band = BandKind::Deviation;  // empty: none
        bool hasMembers = false;                             // each member of those in colour, too
        bool isSmoothed = false;                             // whether smoothing makes sense of the quantity
    };
    using CurveOf = std::function<MemberCurve(std::int64_t trial)>;
    struct Lines {
        std::vector<PlotSeries> series, behind;
    };

    Lines make(const CompareScene& scene, const std::vector<CurveGroup>& groups, const Wish& wish,
               const CurveOf& curveOf);
    // Of a group as it was made the last time; no curve: it has none.
    const PlotSeries* lineOf(std::int64_t group) const;

private:
    using Members = std::vector<std::shared_ptr<const Curve>>;

    PlotSeries line(const CompareScene& scene, const CurveGroup& group, const Wish& wish, const CurveOf& curveOf);
    void addMembers(Lines& to, const CompareScene& scene, const CurveGroup& group, const CurveOf& curveOf) const;
    void addPinned(Lines& to, const CompareScene& scene, const CurveGroup& group, const CurveOf& curveOf) const;
    const MeanCurve& mean(const Members& members, BandKind kind);

    std::map<std::pair<Members, BandKind>, MeanCurve> m_known, m_used;
    std::map<std::int64_t, PlotSeries> m_lines;  // by group
};

}  // namespace lockstep::ui
