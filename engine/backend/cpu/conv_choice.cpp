#include "engine/backend/cpu/conv_choice.h"

#include "engine/ops/dense.h"

namespace lockstep::cpu {

std::string text(ConvAlgorithm algorithm) {
    switch (algorithm) {
        case ConvAlgorithm::Direct: return "direct";
        case ConvAlgorithm::DirectBf16: return kDirectBf16;
        case ConvAlgorithm::Winograd: return "winograd";
        case ConvAlgorithm::Pointwise: return "pointwise";
        case ConvAlgorithm::Samples: return kSamplesBf16;
        case ConvAlgorithm::Gathered: return kGatheredBf16;
    }
    return "";
}

bool suitsHalfImages(const Graph& graph) {
    constexpr std::int64_t kFewProducts = 120;  // ResNet-164 has 77 and gains a sixth, ResNet-50 386 and loses a tenth
    std::int64_t products = 0, elements = 0, images = 0;
    for (const Node& node : graph.nodes()) {
        const bool isConv = node.op == &kConv2d;
        if (!isConv && node.op != &kDense) continue;
        const Shape &x = graph.typeOf(node.inputs[0]).shape, &w = graph.typeOf(node.inputs[1]).shape;
        if (isConv && suitsLanes(node.attrs.as<Conv2dAttrs>(), x, w)) continue;
        const std::int64_t made = graph.typeOf(node.outputs[0]).shape.count();
        products += made * (w.count() / w[0]);
        elements += made;
        images += isConv ? made : 0;
    }
    return images > 0 && products < kFewProducts * elements;
}

ConvAlgorithm chooseByRule(const ConvPass& pass) {
    if (suitsWinograd(pass.attrs, pass.w, pass.y)) return ConvAlgorithm::Winograd;
    return suitsPointwise(pass.attrs, pass.w, pass.y) ? ConvAlgorithm::Pointwise : ConvAlgorithm::Direct;
}

}  // namespace lockstep::cpu
