#include "ui/plot/plot_graphs.h"

#include <qcustomplot.h>

#include "ui/plot/plot_marks.h"

namespace lockstep::ui {

namespace {

constexpr int kGhostAlpha = 80, kBandAlpha = 50, kFadedAlpha = 70;
constexpr double kRingSize = 9, kRingWidth = 1.5;

QCPGraph* unlisted(QCustomPlot& plot) {
    QCPGraph* graph = plot.addGraph();
    graph->setAdaptiveSampling(false);
    graph->removeFromLegend();
    return graph;
}

void set(QCPGraph* graph, const std::vector<Curve::Point>& points) {
    QVector<QCPGraphData> data;
    data.reserve(static_cast<int>(points.size()));
    for (const auto& [x, y] : points) data.append({x, y});
    graph->data()->set(data, true);
}

QColor faint(QColor color, int alpha) {
    color.setAlpha(color.alpha() * alpha / 255);
    return color;
}

}  // namespace

PlotGraphs::PlotGraphs(QCustomPlot& plot, DenseCurves& dense, const PlotSeries& series)
    : m_plot(&plot), m_dense(&dense), m_denseGhost(dense.addBehind()), m_denseLine(dense.add()) {
    if (series.band) m_band = dense.addBand();
    m_ghost = unlisted(plot);
    m_line = unlisted(plot);
    m_markers = unlisted(plot);
    m_markers->setLineStyle(QCPGraph::lsNone);
    m_markers->setName(series.name);
    m_markers->addToLegend();
    if (!series.endsOpen) return;
    m_end = unlisted(plot);
    m_end->setLineStyle(QCPGraph::lsNone);
}

void PlotGraphs::remove() {
    for (QCPGraph* graph : {m_ghost, m_line, m_markers, m_end})
        if (graph) m_plot->removeGraph(graph);
    for (const auto* stroke : {m_denseGhost, m_denseLine}) m_dense->remove(stroke);
    if (m_band) m_dense->remove(m_band);
}

void PlotGraphs::colour(const PlotSeries& series, const Theme& theme, bool faded) {
    const int alpha = faded ? kFadedAlpha : series.faint ? kGhostAlpha : 255;
    const QColor color = faint(seriesColor(series.color, theme), alpha);
    const Qt::PenStyle style = series.dashed ? Qt::DashLine : Qt::SolidLine;
    if (m_band) m_band->color = faint(color, kBandAlpha);
    m_ghost->setPen(QPen(faint(color, kGhostAlpha), 1));
    m_line->setPen(QPen(color, 1, style));
    m_denseGhost->color = m_ghost->pen().color();
    m_denseLine->color = color;
    m_markers->setPen(QPen(color, 1));
    m_markers->setScatterStyle(markerStyle(series.marker, color, series.dashed ? theme.surface : color));
    if (m_end)
        m_end->setScatterStyle(
            QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(color, kRingWidth), QBrush(theme.surface), kRingSize));
}

// A stroke through more points than there are columns is a band of noise and no line.
void PlotGraphs::stroke(QCPGraph* graph, DenseCurves::Stroke& dense, const std::vector<Curve::Point>& points,
                        bool isDense) {
    const bool isPainted = isDense && graph->pen().style() == Qt::SolidLine;
    set(graph, isPainted ? std::vector<Curve::Point>() : points);
    dense.points = isPainted ? points : std::vector<Curve::Point>();
}

void PlotGraphs::fill(const PlotModel::Drawing& drawing, std::size_t smooth) {
    const auto isDense = [&](const std::vector<Curve::Point>& points) { return points.size() > smooth; };
    stroke(m_ghost, *m_denseGhost, drawing.ghost, isDense(drawing.ghost));
    stroke(m_line, *m_denseLine, drawing.line, isDense(drawing.line));
    set(m_markers, drawing.markers);
    if (m_end) set(m_end, drawing.end);
    if (m_band) m_band->low = drawing.low, m_band->high = drawing.high;
}

}  // namespace lockstep::ui
