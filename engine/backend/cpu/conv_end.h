#pragma once
#include <optional>

#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"

namespace lockstep::cpu {

constexpr float kRelu6Ceiling = 6;

// What becomes of a forward convolution's sums, in this order, by input: they are multiplied, a bias and a tensor are
// added; then they are clamped. Of any other node's nothing.
struct ConvEnd {
    std::optional<std::size_t> scale, bias, addend;
    Clamp clamp = Clamp::None;
};
ConvEnd endOf(const Node& node);

// For the library, which knows no scale.
void setEnd(const ConvEnd& end, onednn::ConvRequest& request);

// For our own loops over channel blocks of 16, from this block on, whose first element is the element `at` of y, an
// image of T.
template <class T>
SumEndOf<T> sumEnd(const KernelCall& call, const ConvEnd& end, std::size_t block, std::size_t at) {
    SumEndOf<T> sums{.scale = end.scale ? in(call, *end.scale) + block * 16 : nullptr,
                     .bias = end.bias ? in(call, *end.bias) + block * 16 : nullptr,
                     .addends = end.addend ? in<T>(call, *end.addend) + at : nullptr,
                     .relu = end.clamp != Clamp::None};
    if (end.clamp == Clamp::Relu6) sums.ceiling = kRelu6Ceiling;
    return sums;
}

}  // namespace lockstep::cpu
