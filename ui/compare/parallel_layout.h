#pragma once
#include <QFont>
#include <QRectF>
#include <vector>

#include "ui/compare/parallel_axis.h"

namespace lockstep::ui {

// Where everything of a plot of parallel coordinates stands, in pixels. A plain value.
struct ParallelLayout {
    QRectF area = {};
    QRectF plot = {};                    // from the first axis to the last, from heads to feet
    std::vector<double> x = {};          // of each axis
    std::vector<Absence> slotRows = {};  // below the feet, from the top: those that any axis has trials in
    double lineHeight = 0;               // of a line of words
    bool isStaggered = false;            // titles stand on two heights by turns

    double gap() const;           // between axes
    double y(float place) const;  // also of a slot
    double placeAt(double y) const;
    QRectF lines() const;  // what lines may cover: between heads and feet, and the slots
    QRectF titleRoom(std::size_t axis) const;
    // As it is seen and taken hold of: a single value has some height.
    AxisPiece seen(const ParallelAxis& axis, const AxisPiece& piece) const;
    QRectF brush(std::size_t axis, const AxisPiece& seen) const;
};
ParallelLayout layoutOf(const QRectF& area, const std::vector<ParallelAxis>& axes, const QFont& font);
std::size_t mostAxes(double width);  // that can be told apart

// What a pointer is on, lines aside.
struct ParallelTarget {
    enum Kind { Nothing, Title, Axis, Slot } kind = Nothing;
    std::size_t axis = 0;
    Absence absence = Absence::None;  // of a slot
    bool operator==(const ParallelTarget&) const = default;
};
ParallelTarget targetAt(const ParallelLayout& layout, const std::vector<ParallelAxis>& axes, QPointF at);

}  // namespace lockstep::ui
