#include "engine/plan/activations.h"

#include <algorithm>
#include <set>

#include "engine/plan/align.h"
#include "engine/plan/memory.h"

namespace lockstep {

namespace {

class Assigner {
public:
    Assigner(std::vector<DraftStep>& drafts, const Graph& graph, const Placement& placement)
        : m_drafts(drafts),
          m_graph(graph),
          m_placement(placement),
          m_roots(placement.roots),
          m_lifetimes(graph.values().size()),
          m_alive(graph.values().size()) {
        for (const DraftStep& draft : drafts) {
            if (draft.step.constant) m_constants.insert(*draft.step.node);
        }
    }

    ActivationPlan run() {
        findLifetimes();
        ActivationPlan plan;
        for (std::size_t i = 0; i < m_lifetimes.size(); ++i) {
            if (m_alive[i]) plan.bytesWithoutReuse += alignUp(m_lifetimes[i].bytes);
        }
        for (std::size_t i = 0; i < m_drafts.size(); ++i) takeOver(i);
        plan.bytes = place();
        for (DraftStep& draft : m_drafts) complete(draft);
        return plan;
    }

private:
    std::size_t rootOf(ValueId id) const { return index(m_roots[index(id)]); }
    bool isActivation(ValueId id) const { return !m_placement.pinned(id); }

    void findLifetimes() {
        for (std::size_t i = 0; i < m_drafts.size(); ++i) {
            for (const ValueId id : m_drafts[i].writes) use(id, static_cast<int>(i));
            for (const ValueId id : m_drafts[i].reads) use(id, static_cast<int>(isReadAgain(i, id) ? end() : i));
        }
        for (const Graph::Output& output : m_graph.outputs()) use(output.value, static_cast<int>(end()));
    }

    std::size_t end() const { return m_drafts.size(); }

    // A constant, by a kernel that is none: in later runs, too, which do not make it again.
    bool isReadAgain(std::size_t at, ValueId id) const {
        if (m_drafts[at].step.constant) return false;
        const auto producer = m_graph.value(m_placement.root(id)).producer;
        return producer && m_constants.contains(*producer);
    }

    void use(ValueId id, int step) {
        if (!isActivation(id)) return;
        Lifetime& lifetime = m_lifetimes[rootOf(id)];
        if (!m_alive[rootOf(id)]) lifetime = {step, step, m_graph.value(id).bytes()};
        m_alive[rootOf(id)] = true;
        lifetime.last = std::max(lifetime.last, step);
    }

    void takeOver(std::size_t at) {
        if (!m_drafts[at].step.node) return;
        const Node& node = m_graph.node(*m_drafts[at].step.node);
        const auto taken = static_cast<std::size_t>(node.op->inplaceInput);  // -1: none, past the end
        if (taken >= node.inputs.size()) return;
        const ValueId input = node.inputs[taken], output = node.outputs[0];
        if (!isActivation(input) || !isActivation(output) || !isLastAndOnlyUse(node, input, at)) return;
        const std::size_t from = rootOf(input), to = rootOf(output);
        if (m_lifetimes[from].bytes != m_lifetimes[to].bytes) return;
        m_lifetimes[from].last = m_lifetimes[to].last;
        m_alive[to] = false;
        for (ValueId& root : m_roots) {
            if (index(root) == to) root = static_cast<ValueId>(from);
        }
    }

    bool isLastAndOnlyUse(const Node& node, ValueId input, std::size_t at) const {
        const auto same = [&](ValueId id) { return rootOf(id) == rootOf(input); };
        return m_lifetimes[rootOf(input)].last == static_cast<int>(at) && std::ranges::count_if(node.inputs, same) == 1;
    }

    std::size_t place() {
        std::vector<Lifetime> lifetimes;
        for (std::size_t i = 0; i < m_lifetimes.size(); ++i) {
            if (m_alive[i]) lifetimes.push_back(m_lifetimes[i]);
        }
        const MemoryPlan plan = planMemory(lifetimes, kSlotAlignment);
        m_offsets.resize(m_lifetimes.size());
        for (std::size_t i = 0, next = 0; i < m_lifetimes.size(); ++i) {
            if (m_alive[i]) m_offsets[i] = plan.offsets[next++];
        }
        return plan.peak;
    }

    Slot slotOf(ValueId id) const {
        if (const auto& slot = m_placement.pinned(id)) return *slot;
        return {Arena::Activations, m_offsets[rootOf(id)], m_graph.value(id).bytes()};
    }

    void complete(DraftStep& draft) const {
        std::vector<Slot> inputs, outputs;
        for (const ValueId id : draft.reads) inputs.push_back(slotOf(id));
        for (const ValueId id : draft.writes) outputs.push_back(slotOf(id));
        draft.step.inputs.insert(draft.step.inputs.begin(), inputs.begin(), inputs.end());
        draft.step.outputs.insert(draft.step.outputs.begin(), outputs.begin(), outputs.end());
    }

    std::vector<DraftStep>& m_drafts;
    const Graph& m_graph;
    const Placement& m_placement;
    std::set<NodeId> m_constants;
    std::vector<ValueId> m_roots;        // as placed, and with what was taken over in place
    std::vector<Lifetime> m_lifetimes;   // by root
    std::vector<bool> m_alive;           // by root: an activation of its own
    std::vector<std::size_t> m_offsets;  // by root
};

}  // namespace

ActivationPlan assignActivations(std::vector<DraftStep>& drafts, const Graph& graph, const Placement& placement) {
    return Assigner(drafts, graph, placement).run();
}

}  // namespace lockstep
