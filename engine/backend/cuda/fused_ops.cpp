#include "engine/backend/cuda/fused_ops.h"

namespace lockstep::cuda {

constinit const OpDef kReorder{.name = "reorder", .infer = nullptr};
constinit const OpDef kConv2dSums{.name = "conv2d_sums", .infer = nullptr};
constinit const OpDef kNormConv2dSums{.name = "norm_conv2d_sums", .infer = nullptr};
constinit const OpDef kNormFactors{.name = "norm_factors", .infer = nullptr};
constinit const OpDef kNormTrainFromSums{.name = "norm_train_from_sums", .infer = nullptr};
constinit const OpDef kNormConv2dBackwardWeights{.name = "norm_conv2d_backward_weights", .infer = nullptr};
constinit const OpDef kConv2dBackwardDataNorm{.name = "conv2d_backward_data_norm", .infer = nullptr};
constinit const OpDef kNormBackwardFromSums{.name = "norm_backward_from_sums", .infer = nullptr, .inplaceInput = 0};

std::string describe(const NormOfSumsAttrs& attrs) {
    return describe(attrs.norm) + " over " + std::to_string(attrs.count);
}

}  // namespace lockstep::cuda
