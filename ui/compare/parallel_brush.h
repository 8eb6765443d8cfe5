#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ui/compare/parallel_axis.h"
#include "ui/history/brush.h"

namespace lockstep::ui {

// What of a brush a pointer takes hold of.
enum class BrushGrip { New, Low, High, Whole };
struct BrushHit {
    std::optional<std::size_t> piece = {};  // of pieces(); empty: none is there
    BrushGrip grip = BrushGrip::New;
    bool operator==(const BrushHit&) const = default;
};
// At a place of the axis; `reach`: how near an end is taken for it, as a place.
BrushHit brushAt(const std::vector<AxisPiece>& pieces, double place, double reach);

// A piece of a brush while it is drawn, moved or resized. Its ends snap to the axis's stops: the first and the last
// within. The axis's table outlives it.
class BrushDrag {
public:
    BrushDrag(const ParallelAxis& axis, const AxisBrush& before, const BrushHit& hit, double from);
    AxisBrush to(double place) const;  // the axis's brush with the pointer there; nothing within: without the piece

private:
    AxisPiece pieceTo(double place) const;
    std::optional<AxisPiece> snapped(const AxisPiece& piece, double place) const;

    ParallelAxis m_axis;
    std::vector<ParallelAxis::Stop> m_stops;
    AxisBrush m_rest;  // of the brush, without the piece
    AxisPiece m_piece;
    BrushGrip m_grip;
    double m_from;
};

AxisBrush withoutPiece(const ParallelAxis& axis, const AxisBrush& brush, std::size_t piece);
AxisBrush toggled(AxisBrush brush, Absence absence);
AxisBrush toggled(AxisBrush brush, const std::string& choice);
AxisBrush merged(AxisBrush brush);  // ranges that overlap are one

}  // namespace lockstep::ui
