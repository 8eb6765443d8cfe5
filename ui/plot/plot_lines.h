#pragma once
#include <vector>

#include "ui/plot/plot_model.h"

class QCPItemStraightLine;
class QCustomPlot;

namespace lockstep::ui {

// Upright lines in a plot where something happened to what its curves measure. Belongs to the plot. GUI thread.
class PlotLines {
public:
    explicit PlotLines(QCustomPlot& plot) : m_plot(&plot) {}
    void set(std::vector<PlotMoment> moments) { m_moments = std::move(moments); }
    bool place(const PlotModel& model);  // at their places along the axis; true: they look different now
    void colour(const Theme& theme);

private:
    QCustomPlot* m_plot;
    std::vector<PlotMoment> m_moments;
    std::vector<QCPItemStraightLine*> m_lines;
};

}  // namespace lockstep::ui
