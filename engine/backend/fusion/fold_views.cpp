#include <algorithm>
#include <numeric>

#include "engine/backend/fusion/fuse.h"
#include "engine/backend/fusion/rewriter.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/layer_norm.h"

namespace lockstep {

namespace {

// Those inputs of a node that it works on row by row, so that it may see N,T,C as N*T,C, as may its outputs. Empty: it
// is no such op.
std::vector<std::size_t> rowInputs(const Node& node) {
    if (node.op == &kLayerNorm) return {0};
    if (node.op == &kLayerNormBackward) return {0, 2, 3, 4};
    std::vector<std::size_t> all(node.op->isElementwise ? node.inputs.size() : 0);
    std::iota(all.begin(), all.end(), 0);
    return all;
}

class ViewFolder : private Rewriter {
public:
    explicit ViewFolder(const Graph& graph) : Rewriter(graph), m_graph(graph) {}

    Graph run() {
        for (const Node& node : m_graph.nodes()) emit(node);
        for (std::size_t i = 0; i < m_graph.values().size(); ++i) {
            if (isKept(static_cast<ValueId>(i))) restoreShape(static_cast<ValueId>(i));
        }
        return finish();
    }

private:
    void emit(const Node& node) {
        if (isView(node)) return become(node.outputs[0], now(node.inputs[0]));
        const std::vector<std::size_t> inRows = rowInputs(node);
        if (const auto rows = inRows.empty() ? std::nullopt : rowsOf(node, inRows))
            return emitInRows(node, inRows, *rows);
        for (const ValueId input : node.inputs) restoreShape(input);
        append(node, node.outputs);
    }

    void emitInRows(const Node& node, const std::vector<std::size_t>& inRows, std::int64_t rows) {
        const int rank = oldValue(node.inputs[0]).type.shape.rank();
        std::vector<ValueId> inputs;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const Shape& shape = oldValue(node.inputs[i]).type.shape;
            if (std::ranges::count(inRows, i) == 0) inputs.push_back(now(node.inputs[i]));
            else
                inputs.push_back(seenAs(now(node.inputs[i]),
                                        shape.rank() == rank ? Shape{rows, shape[-1]} : Shape{rows}, node.scope));
        }
        const auto outputs = made().append(*node.op, std::move(inputs), node.attrs, node.scope);
        for (std::size_t i = 0; i < outputs.size(); ++i) become(node.outputs[i], outputs[i]);
    }

    // The new value gets the old one's shape, which it lost on the way.
    void restoreShape(ValueId old) { become(old, seenAs(now(old), oldValue(old).type.shape, scopeOf(old))); }

    // How many rows there are, when an input of more than two dimensions is by now a matrix of such rows.
    std::optional<std::int64_t> rowsOf(const Node& node, const std::vector<std::size_t>& inRows) const {
        const Shape& shape = oldValue(node.inputs[0]).type.shape;
        if (shape.rank() < 3) return std::nullopt;
        for (const std::size_t i : inRows) {
            if (oldValue(node.inputs[i]).type.shape.rank() != shape.rank()) continue;
            const Shape& seen = made().typeOf(behind(now(node.inputs[i]))).shape;
            if (seen.rank() == 2 && seen[1] == shape[-1]) return seen[0];
        }
        return std::nullopt;
    }

    const std::string& scopeOf(ValueId old) const {
        const auto producer = oldValue(old).producer;
        return producer ? m_graph.node(*producer).scope : oldValue(old).name;
    }

    static bool isView(const Node& node) { return node.op == &kReshape || node.op == &kFlatten; }

    // What a new value is a view of: itself where it is none.
    ValueId behind(ValueId value) const {
        const auto producer = made().value(value).producer;
        return producer && isView(made().node(*producer)) ? made().node(*producer).inputs[0] : value;
    }

    ValueId seenAs(ValueId value, const Shape& shape, const std::string& scope) {
        const ValueId whole = behind(value);
        for (const ValueId is : {value, whole}) {
            if (made().typeOf(is).shape == shape) return is;
        }
        return made().append(kReshape, {whole}, Attrs::of(ShapeAttrs{shape}), uniqueScope(made(), kReshape, scope))[0];
    }

    const Graph& m_graph;
};

}  // namespace

Graph foldViews(const Graph& graph) { return ViewFolder(graph).run(); }

}  // namespace lockstep
