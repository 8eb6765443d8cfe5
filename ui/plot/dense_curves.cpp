#include "ui/plot/dense_curves.h"

#include <algorithm>

#include "ui/plot/curve_raster.h"

namespace lockstep::ui {

namespace {

constexpr const char* kLayer = "dense";

// The position of a point in the plot, in device-independent pixels.
class Positions {
public:
    explicit Positions(const QCustomPlot& plot) : m_x(*plot.xAxis), m_y(*plot.yAxis) {}
    QPointF operator()(const Curve::Point& point) const {
        return {m_x.coordToPixel(point.x), m_y.coordToPixel(point.y)};
    }

private:
    const QCPAxis &m_x, &m_y;
};

}  // namespace

DenseCurves::DenseCurves(QCustomPlot& plot) : QCPLayerable(&plot) {
    plot.addLayer(kLayer, plot.layer("main"), QCustomPlot::limBelow);
    setLayer(kLayer);
}

void DenseCurves::remove(const Stroke* stroke) {
    m_strokes.remove_if([stroke](const Stroke& each) { return &each == stroke; });
}

void DenseCurves::applyDefaultAntialiasingHint(QCPPainter* painter) const { painter->setAntialiasing(false); }

void DenseCurves::draw(QCPPainter* painter) {
    const bool any =
        std::any_of(m_strokes.begin(), m_strokes.end(), [](const Stroke& stroke) { return !stroke.points.empty(); });
    if (!any) return;
    const QRect rect = mParentPlot->axisRect()->rect();
    const bool exported = painter->modes() & (QCPPainter::pmNoCaching | QCPPainter::pmVectorized);
    if (exported) drawLines(*painter, rect);
    else drawRaster(*painter, rect);
}

void DenseCurves::drawRaster(QCPPainter& painter, const QRect& rect) const {
    const double ratio = painter.device()->devicePixelRatioF();
    const Positions position(*mParentPlot);
    CurveRaster raster(qRound(rect.width() * ratio), qRound(rect.height() * ratio));
    for (const Stroke& stroke : m_strokes) {
        raster.paint(
            stroke.points, [&](const Curve::Point& point) { return (position(point) - rect.topLeft()) * ratio; },
            stroke.color.rgba());
    }
    QImage image = raster.image();
    image.setDevicePixelRatio(ratio);
    painter.drawImage(rect.topLeft(), image);
}

void DenseCurves::drawLines(QCPPainter& painter, const QRect& rect) const {
    painter.setClipRect(rect);
    const Positions position(*mParentPlot);
    for (const Stroke& stroke : m_strokes) {
        QPolygonF line;
        line.reserve(static_cast<qsizetype>(stroke.points.size()));
        for (const auto& point : stroke.points) line << position(point);
        painter.setPen(QPen(stroke.color, 1));
        painter.drawPolyline(line);
    }
}

}  // namespace lockstep::ui
