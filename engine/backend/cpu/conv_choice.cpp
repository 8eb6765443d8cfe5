#include "engine/backend/cpu/conv_choice.h"

#include <algorithm>

#include "engine/backend/cpu/joined_conv.h"
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
        case ConvAlgorithm::Padded: return kPaddedBf16;
        case ConvAlgorithm::Joined: return kJoinedBf16;
    }
    return "";
}

bool suits(ConvAlgorithm ofTiles, const ConvPass& pass) {
    switch (ofTiles) {
        case ConvAlgorithm::Samples: return suitsSamples(pass.attrs, pass.x, pass.w);
        case ConvAlgorithm::Gathered: return suitsGathered(pass.attrs, pass.w);
        case ConvAlgorithm::Padded: return suitsPadded(pass.attrs, pass.x, pass.w);
        case ConvAlgorithm::Joined: return joinedConv(pass.attrs, pass.x, pass.w, pass.y).has_value();
        default: return false;
    }
}

namespace {

bool isTrained(const Graph& graph) {
    const std::vector<ValueId> parameters = graph.withRole(ValueRole::Parameter);
    return std::ranges::any_of(parameters, [&](ValueId each) { return graph.gradientOf(each).has_value(); });
}

}  // namespace

bool suitsHalfImages(const Graph& graph) {
    constexpr std::int64_t kFewProducts = 120;  // ResNet-164 has 77 and gains a sixth, ResNet-50 386 and loses a tenth
    std::int64_t products = 0, ofImages = 0, elements = 0, images = 0;
    for (const Node& node : graph.nodes()) {
        const bool isConv = node.op == &kConv2d;
        if (!isConv && node.op != &kDense) continue;
        const Shape &x = graph.typeOf(node.inputs[0]).shape, &w = graph.typeOf(node.inputs[1]).shape;
        if (isConv && suitsLanes(node.attrs.as<Conv2dAttrs>(), x, w)) continue;
        const std::int64_t made = graph.typeOf(node.outputs[0]).shape.count();
        const std::int64_t own = made * (w.count() / w[0]);
        products += own;
        ofImages += isConv ? own : 0;
        elements += made;
        images += isConv ? made : 0;
    }
    // What our own algorithms make of filters at each step is shared by few.
    constexpr std::int64_t kFewSamples = 2, kFewInAll = 5'000'000'000;
    const std::int64_t samples = graph.typeOf(graph.withRole(ValueRole::Input).front()).shape[0];
    const bool areFew = samples <= kFewSamples && products <= kFewInAll && 2 * ofImages > products && !isTrained(graph);
    return images > 0 && (areFew || products < kFewProducts * elements);
}

ConvAlgorithm chooseByRule(const ConvPass& pass) {
    if (suitsWinograd(pass.attrs, pass.w, pass.y)) return ConvAlgorithm::Winograd;
    return suitsPointwise(pass.attrs, pass.w, pass.y) ? ConvAlgorithm::Pointwise : ConvAlgorithm::Direct;
}

}  // namespace lockstep::cpu
