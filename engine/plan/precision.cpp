#include "engine/plan/precision.h"

#include "engine/ops/elementwise.h"
#include "engine/ops/pixels.h"

namespace lockstep {

namespace {

class Rewriter {
public:
    Rewriter(const Graph& from, DType compute) : m_from(from), m_compute(compute), m_map(from.values().size()) {}

    Graph rewrite() {
        for (std::size_t i = 0; i < m_from.values().size(); ++i) addValue(static_cast<ValueId>(i));
        for (const Node& node : m_from.nodes()) addNode(node);
        for (const Graph::Assignment& each : m_from.assignments()) m_to.assign(mapped(each.buffer), mapped(each.value));
        for (const Graph::Output& each : m_from.outputs()) m_to.addOutput(each.name, mapped(each.value));
        for (const ValueId parameter : m_from.withRole(ValueRole::Parameter)) {
            const auto gradient = m_from.gradientOf(parameter);
            if (gradient) m_to.setGradient(mapped(parameter), mapped(*gradient));
        }
        return std::move(m_to);
    }

private:
    ValueId mapped(ValueId id) const { return m_map[index(id)]; }
    DType computed(DType dtype) const { return dtype == DType::F32 ? m_compute : dtype; }
    TensorType computed(const TensorType& type) const { return {type.shape, computed(type.dtype)}; }
    TensorType kept(const TensorType& type) const { return {type.shape, atLeastF32(computed(type.dtype))}; }

    void addValue(ValueId id) {
        const Value& value = m_from.value(id);
        switch (value.role) {
            case ValueRole::Input: m_map[index(id)] = addInput(value); break;
            case ValueRole::Parameter:
                m_map[index(id)] = m_to.addParameter(value.name, computed(value.type), value.init, value.decays);
                break;
            case ValueRole::Frozen:
                m_map[index(id)] = m_to.addFrozen(value.name, computed(value.type), value.init);
                break;
            case ValueRole::Buffer: m_map[index(id)] = m_to.addBuffer(value.name, kept(value.type), value.init); break;
            case ValueRole::Intermediate: break;
        }
    }

    ValueId addInput(const Value& value) {
        const ValueId input = m_to.addInput(value.name, value.type);
        if (computed(value.type) == value.type) return input;
        return m_to.append(kCast, {input}, Attrs::of(CastAttrs{m_compute}), value.name).front();
    }

    void addNode(const Node& node) {
        std::vector<ValueId> inputs;
        for (const ValueId input : node.inputs) inputs.push_back(mapped(input));
        const std::vector<ValueId> outputs = m_to.append(*node.op, std::move(inputs), computed(node), node.scope);
        for (std::size_t i = 0; i < outputs.size(); ++i) m_map[index(node.outputs[i])] = outputs[i];
    }

    // Only these ops say an element type in their attributes; all others follow their inputs.
    Attrs computed(const Node& node) const {
        if (node.op == &kFill) {
            const auto& fill = node.attrs.as<FillAttrs>();
            return Attrs::of(FillAttrs{computed(fill.type), fill.value});
        }
        if (node.op == &kPixelsToImages) {
            PixelsAttrs pixels = node.attrs.as<PixelsAttrs>();
            pixels.to = computed(pixels.to);
            return Attrs::of(std::move(pixels));
        }
        if (node.op == &kCast) return Attrs::of(CastAttrs{computed(node.attrs.as<CastAttrs>().to)});
        return node.attrs;
    }

    const Graph& m_from;
    DType m_compute;
    Graph m_to;
    std::vector<ValueId> m_map;
};

}  // namespace

Graph toPrecision(const Graph& graph, DType compute) {
    return compute == DType::F32 ? graph : Rewriter(graph, compute).rewrite();
}

}  // namespace lockstep
