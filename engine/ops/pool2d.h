#pragma once
#include <array>
#include <string>

#include "engine/graph/graph_builder.h"

namespace lockstep {

struct Pool2dAttrs {
    std::array<int, 2> window{2, 2}, stride{2, 2}, padding{0, 0};
    bool countPadding = false;  // average pooling: divide by the whole window even at the border
    bool operator==(const Pool2dAttrs&) const = default;
};
std::string describe(const Pool2dAttrs& attrs);

struct Pool2dBackwardAttrs {
    Pool2dAttrs pool;
    Shape shape;  // of dx
    bool operator==(const Pool2dBackwardAttrs&) const = default;
};
std::string describe(const Pool2dBackwardAttrs& attrs);

// Padding counts as minus infinity for the maximum. `argmax` (i32, shape of y) is the position r * S + s inside the
// window; of equal maxima the first wins, and the gradient goes to that one alone.
extern const OpDef kMaxPool2d;                    // (x) -> y, argmax                    Pool2dAttrs
extern const OpDef kMaxPool2dBackward;            // (dy, argmax) -> dx                  Pool2dBackwardAttrs
extern const OpDef kAveragePool2d;                // (x) -> y                            Pool2dAttrs
extern const OpDef kAveragePool2dBackward;        // (dy) -> dx                          Pool2dBackwardAttrs
extern const OpDef kGlobalAveragePool2d;          // (x: N,C,H,W) -> y: N,C
extern const OpDef kGlobalAveragePool2dBackward;  // (dy: N,C) -> dx                     ShapeAttrs

ValueId maxPool2d(GraphBuilder& b, ValueId x, const Pool2dAttrs& attrs, const std::string& name);
ValueId averagePool2d(GraphBuilder& b, ValueId x, const Pool2dAttrs& attrs, const std::string& name);
ValueId globalAveragePool2d(GraphBuilder& b, ValueId x, const std::string& name);

}  // namespace lockstep
