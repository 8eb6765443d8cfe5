#include "engine/backend/cuda/convolution.h"

namespace lockstep::cuda {

namespace {

template <std::size_t Count>
std::string text(const std::array<std::int64_t, Count>& numbers) {
    std::string out;
    for (const std::int64_t number : numbers) out += (out.empty() ? "" : ",") + std::to_string(number);
    return out;
}

}  // namespace

std::string describe(const ConvolutionShape& shape) {
    constexpr std::array kPasses{"forward", "backward-data", "backward-weights"};
    const std::string type = shape.tf32 ? "tf32" : std::string(lockstep::text(shape.dtype));
    return std::string(kPasses[static_cast<std::size_t>(shape.pass)]) + " " + type + " x=" + text(shape.x) +
           " w=" + text(shape.w) + " y=" + text(shape.y) + " stride=" + text(shape.stride) +
           " padding=" + text(shape.padding) + " dilation=" + text(shape.dilation) + (shape.bias ? " bias" : "") +
           (shape.relu ? " relu" : "") + (shape.normalised ? " normalised" : "") + (shape.sums ? " sums" : "") +
           (shape.normGradient ? " norm-gradient" : "");
}

}  // namespace lockstep::cuda
