#include "engine/backend/cpu/fused_ops.h"

namespace lockstep::cpu {

constinit const OpDef kReorder{.name = "reorder", .infer = nullptr};
constinit const OpDef kConv2dFused{.name = "conv2d_fused", .infer = nullptr};
constinit const OpDef kConv2dBackwardWeightsNormed{.name = "conv2d_backward_weights_normed", .infer = nullptr};
constinit const OpDef kNormStatistics{.name = "norm_statistics", .infer = nullptr};

const Conv2dAttrs& convAttrs(const Node& node) {
    return node.op == &kConv2dFused ? node.attrs.as<FusedConvAttrs>().conv : node.attrs.as<Conv2dAttrs>();
}

std::string describe(const FusedConvAttrs& attrs) {
    return describe(attrs.conv) + (attrs.norm ? " of norm relu" : "") + (attrs.adds ? " +tensor" : "");
}

}  // namespace lockstep::cpu
