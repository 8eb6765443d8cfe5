#pragma once
#include <QColor>

#include "ui/plot/dense_curves.h"
#include "ui/plot/plot_model.h"

namespace lockstep::ui {

// What one series is drawn with: a band, the line as measured behind the smoothed one, markers along it, an open ring
// at its end. The graphs belong to the plot, which outlives them; remove() takes them out of it.
class PlotGraphs {
public:
    PlotGraphs(QCustomPlot& plot, DenseCurves& dense, const PlotSeries& series);
    void remove();
    void colour(const PlotSeries& series, const Theme& theme, bool faded = false);
    // Lines of up to `smooth` points are antialiased.
    void fill(const PlotModel::Drawing& drawing, std::size_t smooth);

private:
    static void stroke(QCPGraph* graph, DenseCurves::Stroke& dense, const std::vector<Curve::Point>& points,
                       bool isDense);

    QCustomPlot* m_plot;
    DenseCurves* m_dense;
    DenseCurves::Stroke *m_denseGhost, *m_denseLine;
    DenseCurves::Band* m_band = nullptr;     // without one: none
    QCPGraph *m_ghost, *m_line, *m_markers;  // the markers stand for all in a picture's legend
    QCPGraph* m_end = nullptr;
};

}  // namespace lockstep::ui
