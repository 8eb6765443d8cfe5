#pragma once
#include <string>

#include "engine/core/shape.h"

namespace lockstep {

// Of ops whose only attribute is the shape that they produce.
struct ShapeAttrs {
    Shape shape;
    bool operator==(const ShapeAttrs&) const = default;
};
inline std::string describe(const ShapeAttrs& attrs) { return "shape=" + attrs.shape.text(); }

}  // namespace lockstep
