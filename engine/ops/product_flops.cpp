#include "engine/ops/product_flops.h"

namespace lockstep {

namespace {

using Types = std::span<const TensorType>;

// y: N, K, height, width; w: K, C / groups, R, S.
double convFlops(const Shape& y, const Shape& w) { return 2.0 * static_cast<double>(y.count() * w[1] * w[2] * w[3]); }

}  // namespace

double conv2dFlops(Types in, Types out) { return convFlops(out[0].shape, in[1].shape); }
double conv2dBackwardDataFlops(Types in, Types) { return convFlops(in[0].shape, in[1].shape); }
double conv2dBackwardWeightsFlops(Types in, Types out) { return convFlops(in[1].shape, out[0].shape); }

double denseFlops(Types in, Types out) { return 2.0 * static_cast<double>(out[0].shape.count() * in[1].shape[1]); }
double denseBackwardDataFlops(Types in, Types) {
    return 2.0 * static_cast<double>(in[0].shape.count() * in[1].shape[1]);
}
double denseBackwardWeightsFlops(Types in, Types out) {
    return 2.0 * static_cast<double>(in[1].shape.count() * out[0].shape[1]);
}

}  // namespace lockstep
