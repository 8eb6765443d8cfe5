#include "ui/plot/curve_raster.h"

#include <algorithm>

#include "ui/plot/column_image.h"

namespace lockstep::ui {

namespace {

constexpr std::size_t kWidestGap = 3;  // columns

// Each channel times part / 255, rounded, two channels at a time.
[[gnu::always_inline]] inline QRgb scaled(QRgb color, std::uint32_t part) {
    const auto pair = [part](std::uint32_t channels) {
        const std::uint32_t product = (channels & 0x00FF00FF) * part + 0x00800080;
        return (product + ((product >> 8) & 0x00FF00FF)) >> 8 & 0x00FF00FF;
    };
    return pair(color) | pair(color >> 8) << 8;
}

// Source-over of premultiplied colours (Porter and Duff, "Compositing digital images", 1984). Most of the time of a
// picture of translucent curves goes here: with wider vectors, where the processor has them.
[[gnu::target_clones("avx2", "default")]] void paintOver(QRgb* begin, QRgb* end, QRgb color) {
    const auto rest = static_cast<std::uint32_t>(255 - qAlpha(color));
    for (QRgb* pixel = begin; pixel != end; ++pixel) *pixel = color + scaled(*pixel, rest);
}

}  // namespace

void CurveRaster::reset(int width, int height) {
    m_width = std::max(width, 1), m_height = std::max(height, 1);
    m_columns.assign(static_cast<std::size_t>(m_width) * static_cast<std::size_t>(m_height), 0);
    m_top.assign(static_cast<std::size_t>(m_width), kNone);
    m_bottom.resize(m_top.size());
}

void CurveRaster::reach(const QPointF& from, const QPointF& to, Rows& top, Rows& bottom) const {
    if (to.x() < 0 || from.x() >= m_width) return;
    const auto first = static_cast<std::size_t>(std::max(0.0, from.x()));
    const auto last = static_cast<std::size_t>(std::min(m_width - 1.0, to.x()));
    if (first == last && from.x() >= 0 && to.x() < m_width) {
        include(first, rowAt(from.y()), top, bottom);
        include(first, rowAt(to.y()), top, bottom);
        return;
    }
    const double slope = to.x() > from.x() ? (to.y() - from.y()) / (to.x() - from.x()) : 0;
    const auto heightAt = [&](double x) {
        return x <= from.x() ? from.y() : x >= to.x() ? to.y() : from.y() + (x - from.x()) * slope;
    };
    double enters = heightAt(static_cast<double>(first));
    for (std::size_t column = first; column <= last; ++column) {
        const double leaves = heightAt(static_cast<double>(column + 1));
        include(column, rowAt(enters), top, bottom);
        include(column, rowAt(leaves), top, bottom);
        enters = leaves;
    }
}

// The points were chosen for about as many columns as there are, but where the axis has just become a little narrower
// or wider, some columns were given none.
void CurveRaster::closeGaps() {
    std::size_t last = m_top.size();
    for (std::size_t column = 0; column < m_top.size(); ++column) {
        if (m_top[column] == kNone) continue;
        for (std::size_t empty = last + 1; empty < column && column - last <= kWidestGap; ++empty) {
            m_top[empty] = m_top[last];
            m_bottom[empty] = m_bottom[last];
        }
        last = column;
    }
}

void CurveRaster::fill(QRgb color) {
    const QRgb top = qPremultiply(color);
    const bool opaque = qAlpha(color) == 255;
    int lastTop = kNone, lastBottom = 0;
    for (std::size_t column = 0; column < m_top.size(); ++column) {
        if (m_top[column] == kNone) continue;
        int from = m_top[column], to = m_bottom[column];
        if (lastTop != kNone && lastBottom < from) from = lastBottom + 1;
        if (lastTop != kNone && lastTop > to) to = lastTop - 1;
        lastTop = m_top[column];
        lastBottom = m_bottom[column];
        fillColumn(column, from, to, top, opaque);
    }
}

void CurveRaster::fillSpans(QRgb color) {
    const QRgb top = qPremultiply(color);
    const bool opaque = qAlpha(color) == 255;
    for (std::size_t column = 0; column < m_top.size(); ++column)
        if (m_top[column] != kNone) fillColumn(column, m_top[column], m_bottom[column], top, opaque);
}

void CurveRaster::fillColumn(std::size_t column, int from, int to, QRgb color, bool isOpaque) {
    from = std::max(from, 0);
    to = std::min(to, m_height - 1);
    if (from > to) return;
    QRgb* const pixels = m_columns.data() + column * static_cast<std::size_t>(m_height);
    if (isOpaque) std::fill(pixels + from, pixels + to + 1, color);
    else paintOver(pixels + from, pixels + to + 1, color);
}

const QImage& CurveRaster::image(double pixelRatio) {
    m_picture = imageOfColumns(m_columns.data(), m_width, m_height, static_cast<std::size_t>(m_height),
                               QImage::Format_ARGB32_Premultiplied);
    m_picture.setDevicePixelRatio(pixelRatio);
    return m_picture;
}

}  // namespace lockstep::ui
