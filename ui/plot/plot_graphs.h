#pragma once
#include <QColor>

#include "ui/plot/dense_curves.h"
#include "ui/plot/plot_model.h"

namespace lockstep::ui {

// What one series is drawn with: the line as measured behind the smoothed one, markers along it, a band around it. The
// graphs belong to the plot, which outlives them; remove() takes them out of it.
class PlotGraphs {
public:
    PlotGraphs(QCustomPlot& plot, DenseCurves& dense, const PlotSeries& series);
    void remove();
    void colour(const PlotSeries& series, const Theme& theme, bool faded = false);
    void fill(const PlotModel::Drawing& drawing, int columns);

private:
    static void stroke(QCPGraph* graph, DenseCurves::Stroke& dense, const std::vector<Curve::Point>& points,
                       int columns);

    QCustomPlot* m_plot;
    DenseCurves* m_dense;
    DenseCurves::Stroke *m_denseGhost, *m_denseLine;
    QCPGraph *m_low = nullptr, *m_high = nullptr;  // without a band: none
    QCPGraph *m_ghost, *m_line, *m_markers;        // the markers stand for all in a picture's legend
};

}  // namespace lockstep::ui
