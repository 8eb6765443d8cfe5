#include <algorithm>

#include "engine/backend/fusion/fuse.h"
#include "engine/backend/fusion/rewriter.h"
#include "engine/ops/activation.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/layer_norm.h"

namespace lockstep {

namespace {

// An op that works row by row, so that it may see N,T,C as N*T,C: its inputs and outputs that have such rows.
struct RowOp {
    const OpDef* op;
    std::vector<std::size_t> inputs, outputs;
};

const RowOp* findRowOp(const OpDef& op) {
    static const RowOp kRowOps[] = {{&kAdd, {0, 1}, {0}},
                                    {&kGelu, {0}, {0}},
                                    {&kGeluBackward, {0, 1}, {0}},
                                    {&kSilu, {0}, {0}},
                                    {&kSiluBackward, {0, 1}, {0}},
                                    {&kLayerNorm, {0}, {0, 1, 2}},
                                    {&kLayerNormBackward, {0, 2, 3, 4}, {0}}};
    const auto* found = std::ranges::find(kRowOps, &op, &RowOp::op);
    return found == std::end(kRowOps) ? nullptr : found;
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
        const RowOp* rowOp = findRowOp(*node.op);
        if (const auto rows = rowOp ? rowsOf(node, *rowOp) : std::nullopt) return emitInRows(node, *rowOp, *rows);
        for (const ValueId input : node.inputs) restoreShape(input);
        append(node, node.outputs);
    }

    void emitInRows(const Node& node, const RowOp& rowOp, std::int64_t rows) {
        const int rank = oldValue(node.inputs[0]).type.shape.rank();
        std::vector<ValueId> inputs;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const Shape& shape = oldValue(node.inputs[i]).type.shape;
            if (std::ranges::count(rowOp.inputs, i) == 0) inputs.push_back(now(node.inputs[i]));
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
    std::optional<std::int64_t> rowsOf(const Node& node, const RowOp& rowOp) const {
        const Shape& shape = oldValue(node.inputs[0]).type.shape;
        if (shape.rank() < 3) return std::nullopt;
        for (const std::size_t i : rowOp.inputs) {
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
