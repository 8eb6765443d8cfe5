#pragma once
#include <string>

#include "engine/graph/graph_builder.h"
#include "engine/ops/shape_attrs.h"

namespace lockstep {

extern const OpDef kRelu;           // (x) -> y = max(x, 0)
extern const OpDef kReluBackward;   // (y, dy) -> dx = y > 0 ? dy : 0
extern const OpDef kRelu6;          // (x) -> y = min(max(x, 0), 6)
extern const OpDef kRelu6Backward;  // (y, dy) -> dx = 0 < y < 6 ? dy : 0
extern const OpDef kAdd;            // (a, b) -> a + b, same type
extern const OpDef kFill;           // () -> a tensor of one value                     FillAttrs
extern const OpDef kFlatten;        // (x: N,…) -> N, product of the rest: a view
extern const OpDef kReshape;        // (x) -> the same elements with another shape: a view   ShapeAttrs
extern const OpDef kCast;           // (x) -> x with another element type              CastAttrs

struct FillAttrs {
    TensorType type;
    double value = 0;
    bool operator==(const FillAttrs&) const = default;
};
std::string describe(const FillAttrs& attrs);

struct CastAttrs {
    DType to = DType::F32;
    bool operator==(const CastAttrs&) const = default;
};
std::string describe(const CastAttrs& attrs);

ValueId relu(GraphBuilder& b, ValueId x, const std::string& name);
ValueId relu6(GraphBuilder& b, ValueId x, const std::string& name);
ValueId add(GraphBuilder& b, ValueId x, ValueId y, const std::string& name);
ValueId flatten(GraphBuilder& b, ValueId x, const std::string& name);

}  // namespace lockstep
