#include <qcustomplot.h>

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <cmath>
#include <utility>

#include "ui/plot/plot_backdrop.h"
#include "ui/plot/plot_legend.h"
#include "ui/plot/plot_view.h"

// What a plot shows beside its series, and how its lines are pointed at.
namespace lockstep::ui {

namespace {

constexpr double kReach = 12;  // pixels

}  // namespace

void PlotView::setBehind(std::vector<PlotSeries> lines) {
    m_model.setBehind(std::move(lines));
    m_backdrop->forget();
    m_graphsAreNew = true;
    refresh();
}

void PlotView::setRaised(std::vector<PlotSeries> lines) {
    m_highlights->raise(std::move(lines), m_model);
    m_plot->layer("overlay")->replot();
}

void PlotView::setTarget(std::optional<double> value) {
    if (m_highlights->target() == value) return;
    m_highlights->setTarget(value, value ? tr("target %1").arg(valueText(*value)) : QString());
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void PlotView::setBare(bool isBare) {
    m_isBare = isBare;
    m_title->setVisible(!isBare);
    m_more->setVisible(!isBare);
}

void PlotView::setLegendShown(bool isShown) {
    m_isLegendShown = isShown;
    m_legend->setVisible(isShown && !m_model.series().empty());
}

// The nearest of all; of equal ones a series before the lines behind.
std::optional<std::int64_t> PlotView::keyAt(QPointF pixel) const {
    std::optional<std::int64_t> nearest;
    double least = kReach;
    const double x = m_plot->xAxis->pixelToCoord(pixel.x());
    const auto look = [&](const PlotSeries& line) {
        const auto on = m_model.onLine(line, x);
        if (!on || !std::isfinite(on->y)) return;
        const QPointF away(m_plot->xAxis->coordToPixel(on->x) - pixel.x(),
                           m_plot->yAxis->coordToPixel(on->y) - pixel.y());
        const double distance = std::hypot(away.x(), away.y());
        if (distance < least) least = distance, nearest = line.key;
    };
    for (std::size_t i = 0; i < m_model.series().size(); ++i)
        if (!m_model.hidden(i)) look(m_model.series()[i]);
    for (const PlotSeries& line : m_model.behind()) look(line);
    return nearest;
}

void PlotView::point(std::optional<QPointF> pixel) {
    if (!m_picks) return;
    const auto key = pixel ? keyAt(*pixel) : std::nullopt;
    if (std::exchange(m_pointed, key) == key) return;
    emit pointed(key ? std::optional<qint64>(*key) : std::nullopt);
}

void PlotView::pick(QPointF pixel) {
    const auto key = m_picks ? keyAt(pixel) : std::nullopt;
    if (key) emit picked(*key);
}

}  // namespace lockstep::ui
