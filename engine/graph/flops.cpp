#include "engine/graph/flops.h"

#include <vector>

namespace lockstep {

double flopsOf(const Graph& graph, const Node& node) {
    if (!node.op->flops) return 0;
    const auto typesOf = [&](const std::vector<ValueId>& values) {
        std::vector<TensorType> types;
        for (const ValueId id : values) types.push_back(graph.typeOf(id));
        return types;
    };
    return node.op->flops(typesOf(node.inputs), typesOf(node.outputs));
}

}  // namespace lockstep
