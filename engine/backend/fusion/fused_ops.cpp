#include "engine/backend/fusion/fused_ops.h"

#include "engine/ops/product_flops.h"

namespace lockstep {

constinit const OpDef kConv2dRelu{.name = "conv2d_relu", .infer = nullptr, .flops = conv2dFlops};
constinit const OpDef kConv2dBackwardWeightsBias{
    .name = "conv2d_backward_weights_bias", .infer = nullptr, .flops = conv2dBackwardWeightsFlops};
constinit const OpDef kDenseRelu{.name = "dense_relu", .infer = nullptr, .flops = denseFlops};
constinit const OpDef kDenseAdd{.name = "dense_add", .infer = nullptr, .flops = denseFlops};
constinit const OpDef kDenseGelu{.name = "dense_gelu", .infer = nullptr, .flops = denseFlops};
constinit const OpDef kDenseBackwardDataGelu{
    .name = "dense_backward_data_gelu", .infer = nullptr, .flops = denseBackwardDataFlops};
constinit const OpDef kLayerNormBackwardAdd{.name = "layer_norm_backward_add", .infer = nullptr, .inplaceInput = 4};
constinit const OpDef kDenseBackwardWeightsBias{
    .name = "dense_backward_weights_bias", .infer = nullptr, .flops = denseBackwardWeightsFlops};
constinit const OpDef kMaxPool2dBackwardRelu{.name = "max_pool2d_backward_relu", .infer = nullptr};
constinit const OpDef kNormTrain{.name = "norm_train", .infer = nullptr};
constinit const OpDef kNormEval{.name = "norm_eval", .infer = nullptr, .inplaceInput = 0};
constinit const OpDef kNormBackward{.name = "norm_backward", .infer = nullptr, .inplaceInput = 0};

std::string describe(const FusedNormAttrs& attrs) {
    std::string text = describe(attrs.norm);
    if (attrs.residual == Residual::Tensor) text += " +tensor";
    if (attrs.residual == Residual::Norm) text += " +norm";
    return attrs.relu ? text + " relu" : text;
}

std::string describe(const FusedNormBackwardAttrs& attrs) {
    std::string text = attrs.pair ? "sum" : "";
    const auto say = [&](bool holds, const char* word) {
        if (holds) text += (text.empty() ? "" : " ") + std::string(word);
    };
    say(attrs.mask != GradMask::None, "relu");
    say(attrs.other == GradOther::Kept, "+tensor");
    say(attrs.other == GradOther::Norm, "+norm");
    say(attrs.other == GradOther::Added, "then sum");
    return text;
}

}  // namespace lockstep
