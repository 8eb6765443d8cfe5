#pragma once
#include <QTimer>
#include <QWidget>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ui/compare/curve_lines.h"
#include "ui/compare/curves_controls.h"
#include "ui/compare/stretch_feed.h"

namespace lockstep::ui {

class PlotView;

// One plot of groups: reads what it needs of its quantity, of evaluations of all trials, of steps of those that are in
// colour or pointed at; and keeps the plot showing it. GUI thread.
class CurvePanel : public QWidget {
    Q_OBJECT
public:
    struct Input {
        SharedScene scene;
        std::shared_ptr<const std::vector<CurveGroup>> groups;
        CurveChoice choice;
        std::string metric;  // a key of metrics.h; empty: there is none to be shown
    };

    explicit CurvePanel(HistoryService* history, QWidget* parent = nullptr);  // which outlives it

    void setInput(const Input& input);
    void setHovered(std::optional<std::int64_t> trial);  // its curve stands out
    PlotView& plot() const { return *m_plot; }
    const PlotSeries* lineOf(std::int64_t group) const { return m_lines.lineOf(group); }
    // A line for each point of each group that is shown: see CurvesView::csv().
    QString csv() const;

signals:
    void drawn();

private:
    void read();
    void readStretches();
    void askDetail();
    void draw();
    void adopt();
    void raise();
    const ComparedTrial* hoveredTrial() const;  // null: it is not one of the scene's
    MemberCurve curveOf(std::int64_t trial);
    std::vector<std::int64_t> shownTrials() const;

    HistoryService& m_history;
    StretchFeed m_stretches;
    PlotView* m_plot;
    Input m_input;
    std::optional<Input> m_drawn, m_asked;
    std::shared_ptr<const ProgressOfTrials> m_progress;  // of m_asked
    struct Known {
        std::shared_ptr<const TrialProgress> of;
        MemberCurve curve;
    };
    std::unordered_map<std::int64_t, Known> m_curves;  // of evaluations, by trial
    CurveLines m_lines;
    QString m_empty;  // what the plot says without one
    std::optional<std::int64_t> m_hovered;
    QTimer m_hoverLater;
};

}  // namespace lockstep::ui
