#include "ui/compare/parallel_layout.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

namespace lockstep::ui {

namespace {

constexpr double kLeftRoom = 56, kRightRoom = 64,
                 kNarrowPlot = 500;  // pixels: room beside the axes; below that width half of it
constexpr double kAxisAir = 6;       // above heads and below feet
constexpr double kLeastGap = 40;
constexpr double kBrushWidth = 7, kBrushHeight = 4;  // of a brush, to either side of its axis and its ends
constexpr double kAxisReach = 12;                    // of an axis

double sideRoom(double width, double wanted) { return width < kNarrowPlot ? wanted / 2 : wanted; }

}  // namespace

std::size_t mostAxes(double width) {
    const double room = width - sideRoom(width, kLeftRoom) - sideRoom(width, kRightRoom);
    return static_cast<std::size_t>(std::max(room / kLeastGap, 1.0)) + 1;
}

double ParallelLayout::gap() const {
    return x.size() > 1 ? plot.width() / static_cast<double>(x.size() - 1) : plot.width();
}

double ParallelLayout::y(float place) const {
    if (place >= 0) return plot.bottom() - static_cast<double>(place) * plot.height();
    const auto row = std::ranges::find(slotRows, ParallelAxis::slotAt(place)) - slotRows.begin();
    return plot.bottom() + 2 * kAxisAir + lineHeight * (static_cast<double>(row) + 0.5);
}

double ParallelLayout::placeAt(double at) const { return (plot.bottom() - at) / plot.height(); }

QRectF ParallelLayout::lines() const {
    return QRectF(plot.left(), plot.top() - kAxisAir, plot.width(), area.bottom() - plot.top() + kAxisAir);
}

QRectF ParallelLayout::titleRoom(std::size_t axis) const {
    const double half = (isStaggered ? gap() : gap() / 2) - 3;
    const bool isHigh = isStaggered && axis % 2 == 1;
    const double left = std::max(x[axis] - half, area.left()), right = std::min(x[axis] + half, area.right());
    const double bottom = plot.top() - kAxisAir - (isHigh ? lineHeight : 0);
    return QRectF(left, bottom - lineHeight, std::max(right - left, 1.0), lineHeight);
}

AxisPiece ParallelLayout::seen(const ParallelAxis& axis, const AxisPiece& piece) const {
    const double more =
        axis.axis().isChoice() ? 0.4 / static_cast<double>(axis.axis().choices.size()) : kBrushHeight / plot.height();
    return {piece.low - more, piece.high + more};
}

QRectF ParallelLayout::brush(std::size_t axis, const AxisPiece& seen) const {
    const double top = plot.bottom() - seen.high * plot.height(), bottom = plot.bottom() - seen.low * plot.height();
    const double half = std::min(kBrushWidth, gap() / 4);
    return QRectF(x[axis] - half, top, 2 * half, bottom - top);
}

ParallelLayout layoutOf(const QRectF& area, const std::vector<ParallelAxis>& axes, const QFont& font) {
    const QFontMetricsF metrics(font);
    ParallelLayout layout{.area = area, .lineHeight = std::ceil(metrics.height()) + 2};
    for (const Absence absence : kAbsences)
        if (std::ranges::any_of(axes, [&](const auto& axis) { return axis.count(absence) > 0; }))
            layout.slotRows.push_back(absence);
    const double left = std::round(area.left() + sideRoom(area.width(), kLeftRoom)),
                 right = std::round(area.right() - sideRoom(area.width(), kRightRoom));
    layout.plot = QRectF(QPointF(left, area.top()), QPointF(std::max(right, left + 1), area.bottom()));
    layout.x.resize(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i)
        layout.x[i] =
            axes.size() > 1 ? std::round(left + layout.gap() * static_cast<double>(i)) : layout.plot.center().x();
    constexpr double kArrowRoom = 16;
    layout.isStaggered = std::ranges::any_of(axes, [&](const auto& axis) {
        return metrics.horizontalAdvance(axis.axis().name) + kArrowRoom > layout.gap();
    });
    const double below = layout.slotRows.empty()
                             ? kAxisAir
                             : 3 * kAxisAir + layout.lineHeight * static_cast<double>(layout.slotRows.size());
    layout.plot.setTop(std::round(area.top() + layout.lineHeight * (layout.isStaggered ? 2 : 1) + 2 * kAxisAir));
    layout.plot.setBottom(std::max(std::round(area.bottom() - below), layout.plot.top() + 1));
    return layout;
}

ParallelTarget targetAt(const ParallelLayout& layout, const std::vector<ParallelAxis>& axes, QPointF at) {
    for (std::size_t i = 0; i < axes.size(); ++i)
        if (layout.titleRoom(i).contains(at)) return {ParallelTarget::Title, i};
    const double reach = std::min(kAxisReach, layout.gap() / 4);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (std::abs(at.x() - layout.x[i]) > reach) continue;
        for (const Absence absence : layout.slotRows) {
            const double y = layout.y(-static_cast<float>(absence));
            if (axes[i].count(absence) > 0 && std::abs(at.y() - y) <= layout.lineHeight / 2)
                return {ParallelTarget::Slot, i, absence};
        }
        if (at.y() >= layout.plot.top() - kAxisAir && at.y() <= layout.plot.bottom() + kAxisAir)
            return {ParallelTarget::Axis, i};
    }
    return {};
}

}  // namespace lockstep::ui
