#include "ui/plot/dense_curves.h"

#include <algorithm>

#include "ui/plot/plot_places.h"

namespace lockstep::ui {

namespace {

constexpr const char* kLayer = "dense";
constexpr std::size_t kSmoothBand = 400;  // of a band whose edges the general painter makes smooth

bool isDrawn(const DenseCurves::Band& band) { return !band.low.empty() && !band.high.empty(); }
bool isSmooth(const DenseCurves::Band& band) { return band.low.size() + band.high.size() <= kSmoothBand; }

}  // namespace

DenseCurves::DenseCurves(QCustomPlot& plot) : QCPLayerable(&plot) {
    plot.addLayer(kLayer, plot.layer("main"), QCustomPlot::limBelow);
    setLayer(kLayer);
}

void DenseCurves::remove(const Stroke* stroke) {
    m_strokes.remove_if([stroke](const Stroke& each) { return &each == stroke; });
}

void DenseCurves::remove(const Band* band) {
    m_bands.remove_if([band](const Band& each) { return &each == band; });
}

void DenseCurves::applyDefaultAntialiasingHint(QCPPainter* painter) const { painter->setAntialiasing(false); }

void DenseCurves::draw(QCPPainter* painter) {
    const QRect rect = mParentPlot->axisRect()->rect();
    const bool isExported = painter->modes() & (QCPPainter::pmNoCaching | QCPPainter::pmVectorized);
    for (const Band& band : m_bands)
        if (isDrawn(band) && (isExported || isSmooth(band))) drawSmoothly(*painter, rect, band);
    if (isExported) return drawLines(*painter, rect);
    const bool hasStroke = std::ranges::any_of(m_strokes, [](const Stroke& each) { return !each.points.empty(); });
    const bool hasBand =
        std::ranges::any_of(m_bands, [](const Band& each) { return isDrawn(each) && !isSmooth(each); });
    if (hasStroke || hasBand) drawRaster(*painter, rect);
}

void DenseCurves::drawRaster(QCPPainter& painter, const QRect& rect) {
    const double ratio = painter.device()->devicePixelRatioF(), along = ratio * (m_isCoarse ? 0.5 : 1);
    const PlotPlaces places(*mParentPlot);
    const auto toPixel = [&](const Curve::Point& point) {
        const QPointF at = places(point) - rect.topLeft();
        return QPointF(at.x() * along, at.y() * ratio);
    };
    const int width = qRound(rect.width() * along);
    m_raster.reset(width, qRound(rect.height() * ratio));
    for (const Band& band : m_bands)
        if (isDrawn(band) && !isSmooth(band)) m_raster.paintBand(band.low, band.high, toPixel, band.color.rgba());
    for (const Stroke& stroke : m_strokes) {
        if (stroke.points.empty()) continue;
        if (stroke.points.size() > static_cast<std::size_t>(width))
            m_raster.paint(stroke.points, toPixel, stroke.color.rgba());
        else m_raster.paintLine(stroke.points, toPixel, stroke.color.rgba());
    }
    if (m_isCoarse) painter.drawImage(QRectF(rect), m_raster.image());
    else painter.drawImage(rect.topLeft(), m_raster.image(ratio));
}

void DenseCurves::drawLines(QCPPainter& painter, const QRect& rect) const {
    painter.setClipRect(rect);
    const PlotPlaces places(*mParentPlot);
    for (const Stroke& stroke : m_strokes) {
        painter.setPen(QPen(stroke.color, 1));
        painter.drawPolyline(places(stroke.points));
    }
}

void DenseCurves::drawSmoothly(QCPPainter& painter, const QRect& rect, const Band& band) const {
    const PlotPlaces places(*mParentPlot);
    QPolygonF area = places(band.high);
    const QPolygonF low = places(band.low);
    std::copy(low.rbegin(), low.rend(), std::back_inserter(area));
    painter.save();
    painter.setClipRect(rect);
    painter.setAntialiasing(true);
    painter.setPen(Qt::NoPen);
    painter.setBrush(band.color);
    painter.drawPolygon(area);
    painter.restore();
}

}  // namespace lockstep::ui
