#include "engine/plan/recompute.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/autodiff/gradients.h"
#include "engine/graph/graph_copy.h"
#include "engine/plan/memory.h"
#include "engine/plan/storage.h"

namespace lockstep {

namespace {

// All nodes in the order in which they run, some of them twice.
struct Order {
    struct Run {
        NodeId node{};
        bool again = false;
    };
    std::vector<Run> runs;
    std::vector<bool> again;  // by value: what comes after the second run reads what that made
};

// A place between forward nodes where a segment may end.
// Bytes; stored: of all before it, for backward nodes.
struct Cut {
    std::size_t end = 0, crossing = 0, stored = 0;
};

class Planner {
public:
    Planner(const Graph& graph, std::span<const NodeId> differentiated)
        : m_graph(graph),
          m_differentiated(differentiated),
          m_forward(graph.nodes().size() - differentiated.size()),
          m_roots(viewRoots(graph)),
          m_depends(dependsOnParameter(graph)),
          m_read(graph.values().size()) {
        for (std::size_t i = m_forward; i < graph.nodes().size(); ++i) {
            for (const ValueId id : graph.nodes()[i].inputs) m_read[index(rootOf(id))] = true;
        }
        findCuts();
    }

    Order leastMemory() const {
        constexpr double kStep = 0.9, kLeast = 1.0 / 64;
        Order best = orderOf({});
        std::size_t least = peakOf(best);
        std::vector<std::size_t> before;
        for (double share = 1; share > kLeast; share *= kStep) {
            std::vector<std::size_t> ends = within(share * static_cast<double>(m_cuts.back().stored));
            if (ends == before) continue;
            Order order = orderOf(ends);
            if (const std::size_t peak = peakOf(order); peak < least) {
                least = peak;
                best = std::move(order);
            }
            before = std::move(ends);
        }
        return best;
    }

private:
    ValueId rootOf(ValueId id) const { return m_roots[index(id)]; }
    const Node& node(std::size_t i) const { return m_graph.nodes()[i]; }
    std::size_t bytesOf(ValueId id) const { return m_graph.value(id).bytes(); }

    // The forward node that makes this value, or what it is a view of.
    std::optional<std::size_t> makerOf(ValueId id) const {
        const auto producer = m_graph.value(rootOf(id)).producer;
        return producer && index(*producer) < m_forward ? std::optional(index(*producer)) : std::nullopt;
    }

    // where segments may end

    // Only what backward nodes read anyway may cross: a backend fuses away much of what they do not. Of the places
    // between one product of matrices and the next, that with the fewest bytes; of equal ones the first, for then the
    // product does not run again.
    void findCuts() {
        std::vector<std::size_t> last(m_graph.values().size());
        for (std::size_t i = 0; i < m_forward; ++i) {
            for (const ValueId id : node(i).inputs) last[index(rootOf(id))] = i;
        }
        std::vector<std::ptrdiff_t> crossing(m_forward + 1), unread(m_forward + 1);
        for (std::size_t i = 0; i < m_forward; ++i) {
            for (const ValueId id : node(i).outputs) {
                if (rootOf(id) != id || !m_depends[index(id)] || last[index(id)] <= i) continue;
                auto& counts = m_read[index(id)] ? crossing : unread;
                counts[i] += static_cast<std::ptrdiff_t>(bytesOf(id));
                counts[last[index(id)]] -= static_cast<std::ptrdiff_t>(bytesOf(id));
            }
        }
        std::ptrdiff_t across = 0, lost = 0;
        std::size_t stored = 0;
        bool isNew = true;  // no cut yet since the last product
        for (std::size_t i = 0; i < m_forward; ++i) {
            across += crossing[i];
            lost += unread[i];
            for (const ValueId id : node(i).outputs) stored += isStored(id) ? bytesOf(id) : 0;
            isNew = isNew || node(i).op->flops;
            if (lost > 0 || across == 0) continue;
            const Cut cut{i + 1, static_cast<std::size_t>(across), stored};
            if (isNew) m_cuts.push_back(cut);
            else if (cut.crossing < m_cuts.back().crossing) m_cuts.back() = cut;
            isNew = false;
        }
        m_cuts.push_back({m_forward, 0, stored});
    }

    bool isStored(ValueId id) const { return rootOf(id) == id && m_read[index(id)] && m_depends[index(id)]; }

    // Of the cuts that would do, a segment ends at that with the fewest bytes, unless it is twice as long without.
    std::vector<std::size_t> within(double budget) const {
        std::vector<std::size_t> ends;
        std::size_t kept = 0, begin = 0;
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < m_cuts.size(); ++i) {
            const std::size_t own = m_cuts[i].stored - begin;
            if (best && static_cast<double>(kept + own) > budget) {
                const Cut& cut = m_cuts[*best];
                ends.push_back(cut.end);
                kept += cut.crossing;
                begin = cut.stored;
                i = *best;
                best.reset();
            } else if (!best || isBetter(m_cuts[i], m_cuts[*best], begin)) {
                best = i;
            }
        }
        return ends;
    }

    static bool isBetter(const Cut& later, const Cut& cut, std::size_t begin) {
        return later.crossing <= cut.crossing || later.stored - begin > 2 * (cut.stored - begin);
    }

    // what runs again

    std::vector<std::size_t> segmentsBy(const std::vector<std::size_t>& ends) const {
        std::vector<std::size_t> segments;
        for (std::size_t i = 0, segment = 0; i < m_forward; ++i) {
            if (segment < ends.size() && ends[segment] == i) ++segment;
            segments.push_back(segment);
        }
        return segments;
    }

    bool isSmall(const Node& made, ValueId id) const {
        constexpr std::size_t kParts = 32;
        const auto isLarge = [&](ValueId other) { return bytesOf(other) >= kParts * bytesOf(id); };
        return std::ranges::any_of(made.inputs, isLarge) || std::ranges::any_of(made.outputs, isLarge);
    }

    // By value, of roots: all but what its own segment alone can make again.
    std::vector<bool> keptBy(const std::vector<std::size_t>& segments) const {
        std::vector<bool> kept(m_graph.values().size(), true);
        for (std::size_t i = 0; i < m_forward && segments[i] != segments.back(); ++i) {
            for (const ValueId id : node(i).outputs)
                kept[index(id)] = !m_depends[index(id)] || (m_read[index(id)] && isSmall(node(i), id));
        }
        const auto read = [&](ValueId id, std::size_t segment) {
            const auto maker = makerOf(id);
            if (maker && segments[*maker] != segment) kept[index(rootOf(id))] = true;
        };
        for (std::size_t i = 0; i < m_graph.nodes().size(); ++i) {
            for (const ValueId id : node(i).inputs) read(id, segments[forwardOf(i)]);
        }
        for (const Graph::Output& output : m_graph.outputs()) kept[index(rootOf(output.value))] = true;
        for (const Graph::Assignment& each : m_graph.assignments()) kept[index(rootOf(each.value))] = true;
        return kept;
    }

    std::size_t forwardOf(std::size_t i) const { return i < m_forward ? i : index(m_differentiated[i - m_forward]); }

    Order orderOf(const std::vector<std::size_t>& ends) const {
        const std::vector<std::size_t> segments = segmentsBy(ends);
        const std::vector<bool> kept = keptBy(segments);
        Order order{{}, std::vector<bool>(m_graph.values().size())};
        const auto want = [&](const Node& reader) {
            for (const ValueId id : reader.inputs)
                if (!kept[index(rootOf(id))]) order.again[index(id)] = true;
        };
        std::vector<std::vector<NodeId>> copies(ends.size() + 1);  // by segment, the last node first
        for (std::size_t i = m_forward; i < m_graph.nodes().size(); ++i) want(node(i));
        for (std::size_t i = m_forward; i-- > 0;) {
            if (std::ranges::none_of(node(i).outputs, [&](ValueId id) { return order.again[index(id)]; })) continue;
            want(node(i));
            copies[segments[i]].push_back(static_cast<NodeId>(i));
        }
        for (std::size_t i = 0; i < m_graph.nodes().size(); ++i) {
            auto& before = copies[segments[forwardOf(i)]];
            for (; i >= m_forward && !before.empty(); before.pop_back()) order.runs.push_back({before.back(), true});
            order.runs.push_back({static_cast<NodeId>(i), false});
        }
        return order;
    }

    // The bytes of the values that are alive at once, at most; gradients of parameters have memory of their own.
    std::size_t peakOf(const Order& order) const {
        constexpr std::size_t kElsewhere = 0;
        std::vector<Lifetime> lives{{}};
        std::vector<std::size_t> lifeOf(m_graph.values().size(), kElsewhere);  // by value, as read at the time
        std::vector<bool> isGradient(m_graph.values().size());
        for (const ValueId id : m_graph.withRole(ValueRole::Parameter)) {
            if (const auto gradient = m_graph.gradientOf(id)) isGradient[index(*gradient)] = true;
        }
        const int steps = static_cast<int>(order.runs.size());
        for (int at = 0; at < steps; ++at) {
            const auto [id, again] = order.runs[static_cast<std::size_t>(at)];
            const Node& run = m_graph.node(id);
            for (const ValueId input : run.inputs) lives[lifeOf[index(input)]].last = at;
            for (const ValueId output : run.outputs) {
                std::size_t life = run.op->isView ? lifeOf[index(run.inputs[0])] : lives.size();
                if (life == lives.size()) lives.push_back({at, at, isGradient[index(output)] ? 0 : bytesOf(output)});
                if (!again || order.again[index(output)]) lifeOf[index(output)] = life;
            }
        }
        for (const Graph::Output& output : m_graph.outputs()) lives[lifeOf[index(output.value)]].last = steps - 1;
        return peakOf(lives, steps);
    }

    static std::size_t peakOf(const std::vector<Lifetime>& lives, int steps) {
        std::vector<std::size_t> begun(static_cast<std::size_t>(steps) + 1), ended(begun.size());
        for (const Lifetime& life : lives) {
            begun[static_cast<std::size_t>(life.first)] += life.bytes;
            ended[static_cast<std::size_t>(life.last) + 1] += life.bytes;
        }
        std::size_t alive = 0, peak = 0;
        for (std::size_t at = 0; at < begun.size(); ++at) {
            alive += begun[at] - ended[at];
            peak = std::max(peak, alive);
        }
        return peak;
    }

    const Graph& m_graph;
    std::span<const NodeId> m_differentiated;
    std::size_t m_forward;  // nodes
    std::vector<ValueId> m_roots;
    std::vector<bool> m_depends;
    std::vector<bool> m_read;  // by root: by backward nodes
    std::vector<Cut> m_cuts;   // the last is the end of the loss
};

// The second run of a node.
void copyAgain(GraphCopy& copy, const Graph& graph, Node node, const std::vector<bool>& again) {
    const std::vector<ValueId> outputs = node.outputs;
    for (ValueId& input : node.inputs) input = copy.now(input);
    std::vector<Value> values;
    for (const ValueId id : outputs) values.push_back({.type = graph.typeOf(id)});
    node.scope = uniqueScope(copy.made(), *node.op, std::string(kRecomputeScope) + '/' + node.scope);
    const auto made = copy.made().appendLowered(std::move(node), std::move(values));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (again[index(outputs[i])]) copy.become(outputs[i], made[i]);
    }
}

}  // namespace

Graph recomputed(const Graph& graph, std::span<const NodeId> differentiated) {
    const Order order = Planner(graph, differentiated).leastMemory();
    if (order.runs.size() == graph.nodes().size()) return graph;
    GraphCopy copy(graph);
    for (const auto& [id, again] : order.runs) {
        const Node& node = graph.node(id);
        if (again) copyAgain(copy, graph, node, order.again);
        else copy.append(node, node.outputs);
    }
    return copy.finish();
}

}  // namespace lockstep
