#include "engine/backend/cpu/conv_end.h"

namespace lockstep::cpu {

ConvEnd endOf(const Node& node) {
    ConvEnd end;
    if (!isForwardConv(node)) return end;
    const std::size_t last = node.inputs.size() - 1;
    if (node.op == &kConv2dFused) {
        if (node.attrs.as<FusedConvAttrs>().adds) end.addend = last;
        return end;
    }
    if (last >= 2) end.bias = 2;
    if (node.op == &kConv2dRelu) end.clamp = Clamp::Relu;
    if (node.op == &kConv2dFolded) end.scale = 3;
    if (node.op == &kConv2dFolded || node.op == &kConv2dScaled) {
        const auto& attrs = node.attrs.as<FoldedConvAttrs>();
        if (attrs.adds) end.addend = last;
        end.clamp = attrs.clamp;
    }
    return end;
}

void setEnd(const ConvEnd& end, onednn::ConvRequest& request) {
    request.bias = end.bias.has_value();
    request.adds = end.addend.has_value();
    request.relu = end.clamp != Clamp::None;
    if (end.clamp == Clamp::Relu6) request.ceiling = kRelu6Ceiling;
}

}  // namespace lockstep::cpu
