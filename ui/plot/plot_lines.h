#pragma once
#include <vector>

#include "ui/plot/plot_model.h"

class QCPItemStraightLine;
class QCPItemText;
class QCustomPlot;

namespace lockstep::ui {

// Upright lines in a plot where something happened to what its curves measure, each with its name beside it, if it has
// one. Belongs to the plot. GUI thread.
class PlotLines {
public:
    explicit PlotLines(QCustomPlot& plot) : m_plot(&plot) {}
    void set(std::vector<PlotMoment> moments) { m_moments = std::move(moments); }
    const std::vector<PlotMoment>& moments() const { return m_moments; }
    bool place(const PlotModel& model);  // at their places along the axis; true: they look different now
    void colour(const Theme& theme);

private:
    struct Line {
        QCPItemStraightLine* line = nullptr;
        QCPItemText* name = nullptr;
    };
    Line make();
    bool name(std::size_t index, double x);

    QCustomPlot* m_plot;
    std::vector<PlotMoment> m_moments;
    std::vector<Line> m_lines;
};

}  // namespace lockstep::ui
