#include "ui/views/plot_graphs.h"

#include <qcustomplot.h>

#include "ui/views/plot_marks.h"

namespace lockstep::ui {

namespace {

constexpr int kGhostAlpha = 80, kBandAlpha = 50;

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
    color.setAlpha(alpha);
    return color;
}

}  // namespace

PlotGraphs::PlotGraphs(QCustomPlot& plot, const PlotSeries& series) : m_plot(&plot) {
    if (series.band) {
        m_low = unlisted(plot);
        m_high = unlisted(plot);
        m_low->setPen(Qt::NoPen);
        m_high->setPen(Qt::NoPen);
        m_high->setChannelFillGraph(m_low);
    }
    m_ghost = unlisted(plot);
    m_line = unlisted(plot);
    m_markers = unlisted(plot);
    m_markers->setLineStyle(QCPGraph::lsNone);
    m_markers->setName(series.name);
    m_markers->addToLegend();
}

void PlotGraphs::remove() {
    if (m_high) m_high->setChannelFillGraph(nullptr);
    for (QCPGraph* graph : {m_low, m_high, m_ghost, m_line, m_markers})
        if (graph) m_plot->removeGraph(graph);
}

void PlotGraphs::colour(const PlotSeries& series, const Theme& theme) {
    const QColor color = seriesColor(series.color, theme);
    const Qt::PenStyle style = series.dashed ? Qt::DashLine : Qt::SolidLine;
    if (m_high) m_high->setBrush(faint(color, kBandAlpha));
    m_ghost->setPen(QPen(faint(color, kGhostAlpha), 1));
    m_line->setPen(QPen(color, 1, style));
    m_markers->setPen(QPen(color, 1));
    m_markers->setScatterStyle(markerStyle(series.marker, color, series.dashed ? theme.surface : color));
}

// A stroke through more points than there are columns is a band of noise and no line; smooth edges would show nobody
// anything and cost most of the time.
void PlotGraphs::fill(const PlotModel::Drawing& drawing, int columns) {
    const bool many = drawing.line.size() > static_cast<std::size_t>(columns);
    for (QCPGraph* graph : {m_ghost, m_line}) graph->setAntialiased(!many);
    set(m_ghost, drawing.ghost);
    set(m_line, drawing.line);
    set(m_markers, drawing.markers);
    if (!m_low) return;
    set(m_low, drawing.low);
    set(m_high, drawing.high);
}

}  // namespace lockstep::ui
