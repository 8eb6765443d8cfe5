#include "ui/compare/parallel_brush.h"

#include <algorithm>
#include <cmath>

namespace lockstep::ui {

namespace {

constexpr double kPlaceRounding = 1e-6;  // of places

void addPiece(const ParallelAxis& axis, AxisBrush& brush, const AxisPiece& piece,
              const std::vector<ParallelAxis::Stop>& stops) {
    std::optional<AxisBrush::Range> range;
    for (const auto& stop : stops) {
        if (stop.place < piece.low - kPlaceRounding || stop.place > piece.high + kPlaceRounding) continue;
        if (axis.axis().isChoice()) brush.choices.insert(axis.choiceAt(stop.value));
        else if (!range) range = {stop.value, stop.value};
        else *range = {std::min(range->low, stop.value), std::max(range->high, stop.value)};
    }
    if (range) brush.ranges.push_back(*range);
}

}  // namespace

BrushHit brushAt(const std::vector<AxisPiece>& pieces, double place, double reach) {
    BrushHit hit;
    double nearest = reach;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const AxisPiece& piece = pieces[i];
        // The middle of a narrow one is its own.
        const double inner = std::min(reach, (piece.high - piece.low) / 4);
        const auto offer = [&](double end, bool isWithin, BrushGrip grip) {
            const double away = std::abs(place - end);
            if (away > (isWithin ? inner : nearest) || away > nearest) return;
            nearest = away;
            hit = {i, grip};
        };
        if (piece.low <= place && place <= piece.high) hit = {i, BrushGrip::Whole};
        offer(piece.low, place > piece.low, BrushGrip::Low);
        offer(piece.high, place < piece.high, BrushGrip::High);
    }
    return hit;
}

AxisBrush withoutPiece(const ParallelAxis& axis, const AxisBrush& brush, std::size_t piece) {
    AxisBrush rest = brush;
    if (!axis.axis().isChoice()) {
        rest.ranges.erase(rest.ranges.begin() + static_cast<std::ptrdiff_t>(piece));
        return rest;
    }
    const AxisPiece gone = axis.pieces(brush)[piece];
    for (const auto& stop : axis.stops())
        if (gone.low - kPlaceRounding <= stop.place && stop.place <= gone.high + kPlaceRounding)
            rest.choices.erase(axis.choiceAt(stop.value));
    return rest;
}

AxisBrush toggled(AxisBrush brush, Absence absence) {
    if (brush.without.erase(absence) == 0) brush.without.insert(absence);
    return brush;
}

AxisBrush toggled(AxisBrush brush, const std::string& choice) {
    if (brush.choices.erase(choice) == 0) brush.choices.insert(choice);
    return brush;
}

AxisBrush merged(AxisBrush brush) {
    std::ranges::sort(brush.ranges, {}, &AxisBrush::Range::low);
    std::vector<AxisBrush::Range> ranges;
    for (const auto& range : brush.ranges) {
        if (ranges.empty() || range.low > ranges.back().high) ranges.push_back(range);
        else ranges.back().high = std::max(ranges.back().high, range.high);
    }
    brush.ranges = std::move(ranges);
    return brush;
}

BrushDrag::BrushDrag(const ParallelAxis& axis, const AxisBrush& before, const BrushHit& hit, double from)
    : m_axis(axis),
      m_stops(axis.stops()),
      m_rest(hit.piece ? withoutPiece(axis, before, *hit.piece) : before),
      m_piece(hit.piece ? axis.pieces(before)[*hit.piece] : AxisPiece{from, from}),
      m_grip(hit.grip),
      m_from(from) {}

AxisPiece BrushDrag::pieceTo(double place) const {
    const double by = place - m_from;
    switch (m_grip) {
        case BrushGrip::New: return {std::min(m_from, place), std::max(m_from, place)};
        case BrushGrip::Low:
            return {std::min(m_piece.low + by, m_piece.high), std::max(m_piece.low + by, m_piece.high)};
        case BrushGrip::High:
            return {std::min(m_piece.low, m_piece.high + by), std::max(m_piece.low, m_piece.high + by)};
        case BrushGrip::Whole: break;
    }
    const double kept = std::clamp(by, -m_piece.low, 1 - m_piece.high);
    return {m_piece.low + kept, m_piece.high + kept};
}

// What a person moves or resizes does not vanish between two stops: it becomes the stop that is nearest.
std::optional<AxisPiece> BrushDrag::snapped(const AxisPiece& piece, double place) const {
    const auto isIn = [&](const ParallelAxis::Stop& stop) {
        return piece.low - kPlaceRounding <= stop.place && stop.place <= piece.high + kPlaceRounding;
    };
    if (m_stops.empty()) return std::nullopt;
    const auto first = std::ranges::find_if(m_stops, isIn);
    if (first != m_stops.end()) {
        auto last = first;
        while (last + 1 != m_stops.end() && isIn(*(last + 1))) ++last;
        return AxisPiece{first->place, last->place};
    }
    if (m_grip == BrushGrip::New) return std::nullopt;
    const double wanted = m_grip == BrushGrip::Whole ? (piece.low + piece.high) / 2 : place;
    const auto nearest = std::ranges::min_element(
        m_stops, {}, [&](const ParallelAxis::Stop& stop) { return std::abs(stop.place - wanted); });
    return AxisPiece{nearest->place, nearest->place};
}

AxisBrush BrushDrag::to(double place) const {
    AxisBrush brush = m_rest;
    if (const auto piece = snapped(pieceTo(place), place)) addPiece(m_axis, brush, *piece, m_stops);
    return brush;
}

}  // namespace lockstep::ui
