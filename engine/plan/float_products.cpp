#include "engine/plan/float_products.h"

#include <cmath>
#include <span>

#include "engine/backend/backend.h"
#include "engine/graph/flops.h"

namespace lockstep {

std::string FloatProducts::countText() const { return std::to_string(ofFloats) + " of " + std::to_string(all); }

std::string FloatProducts::shareText() const {
    const long percent = std::lround(100 * share);
    return (percent == 100 && ofFloats < all ? "over 99" : std::to_string(percent)) + " %";
}

// With operands of f32 in memory an algorithm says what it rounds them to.
bool multipliesFloats(const Program& program, const Node& node) {
    const bool isAsked = program.precision == Precision::Bf16 && program.storage->dtype == DType::F32;
    return isAsked && node.op->flops && !node.algorithm.empty() && operandsOf(node) == DType::F32;
}

FloatProducts floatProducts(const Program& program) {
    FloatProducts found;
    double flops = 0, flopsOfFloats = 0;
    const Graph* graph = program.passes.front().graph.get();
    for (const Node& node : graph ? graph->nodes() : std::span<const Node>()) {
        if (!node.op->flops) continue;
        ++found.all, flops += flopsOf(*graph, node);
        if (multipliesFloats(program, node)) ++found.ofFloats, flopsOfFloats += flopsOf(*graph, node);
    }
    if (flops > 0) found.share = flopsOfFloats / flops;
    return found;
}

}  // namespace lockstep
