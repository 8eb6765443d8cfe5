#pragma once
#include <optional>
#include <vector>

#include "ui/plot/plot_model.h"

class QCPGraph;
class QCPItemStraightLine;
class QCPItemText;
class QCustomPlot;

namespace lockstep::ui {

// What stands out in a plot: lines raised above all others, on the layer of the crosshair, which is drawn by itself;
// and a target, as a level line. Belongs to the plot. GUI thread.
class PlotHighlights {
public:
    explicit PlotHighlights(QCustomPlot& plot) : m_plot(&plot) {}

    void raise(std::vector<PlotSeries> lines, const PlotModel& model);
    const std::vector<PlotSeries>& raised() const { return m_raised; }
    void place(const PlotModel& model);  // at their places in the ranges as they are now
    void setTarget(std::optional<double> value, const QString& words);
    std::optional<double> target() const { return m_target; }
    void colour(const Theme& theme);

private:
    QCustomPlot* m_plot;
    std::vector<PlotSeries> m_raised;
    std::vector<QCPGraph*> m_graphs;
    std::optional<double> m_target;
    QCPItemStraightLine* m_line = nullptr;
    QCPItemText* m_words = nullptr;
};

}  // namespace lockstep::ui
