#include "ui/plot/plot_backdrop.h"

#include <QElapsedTimer>
#include <algorithm>
#include <cmath>

#include "ui/plot/curve_raster.h"
#include "ui/plot/plot_places.h"

namespace lockstep::ui {

namespace {

constexpr const char* kBehind = "behind";
constexpr std::size_t kFewLines = 100, kSmoothLine = 200;  // points of one, that are antialiased
constexpr double kInAFrame = 4;                            // milliseconds that painting may take while somebody moves
constexpr double kRingRadius = 3, kDotRadius = 1.5;        // pixels
constexpr int kOwnColorAlpha = 120;                        // of a line in a colour of its own
constexpr double kLeastAlpha = 0.12;                       // of the many others

bool isSame(PlotRange a, PlotRange b) { return a.low == b.low && a.high == b.high; }

}  // namespace

bool PlotBackdrop::View::operator==(const View& other) const {
    return isSame(x, other.x) && isSame(y, other.y) && size == other.size && axis == other.axis && isLog == other.isLog;
}

PlotBackdrop::PlotBackdrop(QCustomPlot& plot, const PlotModel& model) : QCPLayerable(&plot), m_model(model) {
    plot.addLayer(kBehind, plot.layer("main"), QCustomPlot::limBelow);
    setLayer(kBehind);
}

void PlotBackdrop::forget() {
    m_shown.reset();
    m_picture = QImage();
}

void PlotBackdrop::applyDefaultAntialiasingHint(QCPPainter* painter) const { painter->setAntialiasing(false); }

PlotBackdrop::View PlotBackdrop::viewAt(double ratio) const {
    const auto range = [](const QCPAxis& axis) { return PlotRange{axis.range().lower, axis.range().upper}; };
    return {range(*mParentPlot->xAxis), range(*mParentPlot->yAxis), mParentPlot->axisRect()->size() * ratio,
            m_model.axis(), m_model.log()};
}

// Where that part of the plot lies now.
QRectF PlotBackdrop::placeOf(const View& view) const {
    const QCPAxis &x = *mParentPlot->xAxis, &y = *mParentPlot->yAxis;
    return QRectF(QPointF(x.coordToPixel(view.x.low), y.coordToPixel(view.y.high)),
                  QPointF(x.coordToPixel(view.x.high), y.coordToPixel(view.y.low)));
}

void PlotBackdrop::draw(QCPPainter* painter) {
    m_isStretched = false;
    if (m_model.behind().empty()) return;
    const QRect rect = mParentPlot->axisRect()->rect();
    painter->setClipRect(rect);
    if (painter->modes() & (QCPPainter::pmNoCaching | QCPPainter::pmVectorized)) return drawLines(*painter);
    const double ratio = painter->device()->devicePixelRatioF();
    const View now = viewAt(ratio);
    const bool fits = m_shown && m_shown->axis == now.axis && m_shown->isLog == now.isLog;
    if (m_isMoving && fits && m_milliseconds > kInAFrame && !(*m_shown == now)) {
        m_isStretched = true;
        return painter->drawImage(placeOf(*m_shown), m_picture);
    }
    if (!m_shown || !(*m_shown == now)) {
        QElapsedTimer clock;
        clock.start();
        m_picture = painted(ratio);
        m_milliseconds = static_cast<double>(clock.nsecsElapsed()) * 1e-6;
        m_shown = now;
    }
    painter->drawImage(rect.topLeft(), m_picture);
}

QColor PlotBackdrop::colorOf(const PlotSeries& line) const {
    const bool isOwn = line.color >= 0;
    QColor color = isOwn ? seriesColor(line.color, currentTheme()) : currentTheme().muted;
    // As HiPlot has them: the more there are, the fainter.
    const double share = std::clamp(2 / std::pow(static_cast<double>(m_model.behind().size()), 0.3), kLeastAlpha, 0.6);
    color.setAlpha(isOwn ? kOwnColorAlpha : static_cast<int>(255 * share));
    return color;
}

QImage PlotBackdrop::painted(double ratio) const {
    const QRect rect = mParentPlot->axisRect()->rect();
    const PlotPlaces places(*mParentPlot);
    const auto toPixel = [&](const Curve::Point& point) { return (places(point) - rect.topLeft()) * ratio; };
    const int width = std::max(1, qRound(rect.width() * ratio));
    const QCPRange x = mParentPlot->xAxis->range();
    CurveRaster raster(width, qRound(rect.height() * ratio));
    const bool areFew = m_model.behind().size() <= kFewLines;
    std::vector<std::pair<QPolygonF, QColor>> smooth;  // that the general painter draws
    for (const PlotSeries& line : m_model.behind()) {
        const auto points = m_model.drawLine(line, {x.lower, x.upper}, width);
        if (points.size() > static_cast<std::size_t>(width)) raster.paint(points, toPixel, colorOf(line).rgba());
        else if (areFew && points.size() <= kSmoothLine) smooth.emplace_back(places(points), colorOf(line));
        else raster.paintLine(points, toPixel, colorOf(line).rgba());
    }
    QImage image = raster.image(ratio).copy();
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(-rect.topLeft());
    for (const auto& [polyline, color] : smooth) {
        painter.setPen(QPen(color, 1));
        painter.drawPolyline(polyline);
    }
    drawEnds(painter);
    return image;
}

// Rings, and dots where a single point makes no line.
void PlotBackdrop::drawEnds(QPainter& painter) const {
    const QRect rect = mParentPlot->axisRect()->rect();
    const PlotPlaces places(*mParentPlot);
    for (const PlotSeries& line : m_model.behind()) {
        const bool isPoint = line.curve->size() == 1;
        const auto end = line.endsOpen || isPoint ? m_model.endOf(line) : std::nullopt;
        if (!end || !rect.contains(places(*end).toPoint())) continue;
        painter.setPen(QPen(colorOf(line), 1));
        painter.setBrush(line.endsOpen ? QBrush(Qt::NoBrush) : QBrush(colorOf(line)));
        const double radius = line.endsOpen ? kRingRadius : kDotRadius;
        painter.drawEllipse(places(*end), radius, radius);
    }
}

void PlotBackdrop::drawLines(QCPPainter& painter) const {
    const PlotPlaces places(*mParentPlot);
    const QCPRange x = mParentPlot->xAxis->range();
    painter.setAntialiasing(true);
    for (const PlotSeries& line : m_model.behind()) {
        painter.setPen(QPen(colorOf(line), 1));
        painter.drawPolyline(places(m_model.drawLine(line, {x.lower, x.upper}, mParentPlot->axisRect()->width())));
    }
    drawEnds(painter);
}

}  // namespace lockstep::ui
