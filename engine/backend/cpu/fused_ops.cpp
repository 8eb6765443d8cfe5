#include "engine/backend/cpu/fused_ops.h"

#include <algorithm>

#include "engine/ops/product_flops.h"

namespace lockstep::cpu {

constinit const OpDef kReorder{.name = "reorder", .infer = nullptr};
constinit const OpDef kConv2dFused{.name = "conv2d_fused", .infer = nullptr, .flops = conv2dFlops};
constinit const OpDef kConv2dBackwardWeightsNormed{
    .name = "conv2d_backward_weights_normed", .infer = nullptr, .flops = conv2dBackwardWeightsFlops};
constinit const OpDef kNormStatistics{.name = "norm_statistics", .infer = nullptr};

constinit const OpDef kFoldNorm{.name = "fold_norm", .infer = nullptr};
constinit const OpDef kConv2dFolded{.name = "conv2d_folded", .infer = nullptr, .inplaceInput = 4, .flops = conv2dFlops};
constinit const OpDef kScaleFilters{.name = "scale_filters", .infer = nullptr};
constinit const OpDef kConv2dScaled{.name = "conv2d_scaled", .infer = nullptr, .inplaceInput = 3, .flops = conv2dFlops};

bool isForwardConv(const Node& node) {
    const auto ops = {&kConv2d, &kConv2dRelu, &kConv2dFused, &kConv2dFolded, &kConv2dScaled};
    return std::ranges::count(ops, node.op) > 0;
}

const Conv2dAttrs& convAttrs(const Node& node) {
    if (node.op == &kConv2dFolded || node.op == &kConv2dScaled) return node.attrs.as<FoldedConvAttrs>().conv;
    return node.op == &kConv2dFused ? node.attrs.as<FusedConvAttrs>().conv : node.attrs.as<Conv2dAttrs>();
}

std::string describe(const FusedConvAttrs& attrs) {
    return describe(attrs.conv) + (attrs.norm ? " of norm relu" : "") + (attrs.adds ? " +tensor" : "");
}

std::string describe(const FoldedConvAttrs& attrs) {
    constexpr const char* kClamps[] = {"", " relu", " relu6"};
    return describe(attrs.conv) + " norm" + (attrs.adds ? " +tensor" : "") +
           kClamps[static_cast<std::size_t>(attrs.clamp)];
}

}  // namespace lockstep::cpu
