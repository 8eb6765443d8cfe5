#pragma once
#include <QListWidget>
#include <cstdint>
#include <functional>
#include <vector>

#include "ui/compare/curve_groups.h"
#include "ui/compare/time_to_target.h"
#include "ui/history/trial_progress.h"

namespace lockstep::ui {

// How long a group took to the target.
struct RankedTarget {
    std::int64_t trial = 0;  // the group's lead
    QString name = {};
    int seeds = 1;
    int look = -1;  // as CurveGroup::look(); -1: it is grey
    TargetSummary summary = {};
};

// Of groups that have been evaluated, or have failed, the earliest first; `progress` is of the objective.
std::vector<RankedTarget> rankedByTarget(const CompareScene& scene, const std::vector<CurveGroup>& groups,
                                         const ProgressOfTrials& progress, PlotAxis axis);
// "after 12 s", "after 12 s (2 of 3)", "> budget (5 min)", "not yet".
QString targetText(const RankedTarget& ranked, PlotAxis axis);

// The ranking as a short list beside curves. GUI thread.
class TargetList : public QListWidget {
    Q_OBJECT
public:
    explicit TargetList(QWidget* parent = nullptr);
    void setRanking(const std::vector<RankedTarget>& ranking, PlotAxis axis);
    void light(std::optional<std::int64_t> trial);

signals:
    void pointed(std::optional<qint64> trial);
    void picked(qint64 trial);
    void opened(qint64 trial);

protected:
    void leaveEvent(QEvent* event) override;

private:
    std::vector<std::int64_t> m_trials;  // by row
    int m_lit = -1;
};

}  // namespace lockstep::ui
