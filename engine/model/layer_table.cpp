#include "engine/graph/flops.h"
#include "engine/model/registry.h"

namespace lockstep {

namespace {

std::int64_t parametersOf(const Graph& graph, const Node& node) {
    std::int64_t count = 0;
    for (const ValueId id : node.inputs) {
        const Value& value = graph.value(id);
        if (value.role == ValueRole::Parameter) count += value.type.shape.count();
    }
    return count;
}

}  // namespace

std::vector<LayerRow> layerTable(const Graph& forward) {
    std::vector<LayerRow> rows;
    const auto logits = forward.output("logits");
    for (const Node& node : forward.nodes()) {
        const Shape shape = forward.typeOf(node.outputs[0]).shape;
        const std::string perSample = Shape(shape.dims().subspan(1)).text();
        rows.push_back({node.scope, std::string(node.op->name), perSample, parametersOf(forward, node)});
        if (logits == node.outputs[0]) break;
    }
    return rows;
}

double forwardFlops(const Graph& forward) {
    double sum = 0;
    for (const Node& node : forward.nodes()) sum += flopsOf(forward, node);
    return sum;
}

std::int64_t parameterCount(const Graph& forward) {
    std::int64_t count = 0;
    for (const ValueId id : forward.withRole(ValueRole::Parameter)) count += forward.typeOf(id).shape.count();
    return count;
}

}  // namespace lockstep
