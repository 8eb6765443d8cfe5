#include "engine/backend/fusion/fuse.h"

#include <algorithm>
#include <map>

#include "engine/backend/fusion/fused_ops.h"
#include "engine/backend/fusion/rewriter.h"
#include "engine/ops/activation.h"
#include "engine/ops/conv2d.h"
#include "engine/ops/dense.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/layer_norm.h"
#include "engine/ops/pool2d.h"

namespace lockstep {

namespace {

class Fuser : private Rewriter {
public:
    Fuser(const Graph& graph, HasKernel hasKernel)
        : Rewriter(graph), m_graph(graph), m_hasKernel(hasKernel), m_dropped(graph.nodes().size()) {}

    Graph run() {
        for (std::size_t i = 0; i < m_graph.nodes().size(); ++i) find(i);
        for (std::size_t i = 0; i < m_graph.nodes().size(); ++i) emit(i);
        return finish();
    }

private:
    // A fused node, with old values for inputs and outputs.
    struct Fused {
        Node node;
        std::vector<ValueId> outputs;
    };

    void find(std::size_t i) {
        const OpDef* op = oldNode(i).op;
        if (m_dropped[i]) return;
        if (op == &kRelu && (normForward(i) || reluAfter(i, kConv2d, kConv2dRelu) || reluAfter(i, kDense, kDenseRelu)))
            return;
        if (op == &kReluBackward && (normBackward(i) || poolBackward(i))) return;
        if (op == &kGelu && geluAfterDense(i)) return;
        if (op == &kGeluBackward && geluBeforeDense(i)) return;
        if (op == &kAdd && addAfterNormBackward(i)) return;
        if (op == &kAdd && (addAfter(i, kDense, kDenseAdd) || addAfter(i, kLayerNormBackward, kLayerNormBackwardAdd)))
            return;
        if (op == &kConv2dBackwardBias) weightsAndBias(i, kConv2dBackwardWeights, kConv2dBackwardWeightsBias);
        if (op == &kDenseBackwardBias) weightsAndBias(i, kDenseBackwardWeights, kDenseBackwardWeightsBias);
    }

    void emit(std::size_t i) {
        const auto fused = m_fused.find(i);
        if (fused != m_fused.end()) return append(fused->second.node, fused->second.outputs);
        if (!m_dropped[i]) append(oldNode(i), oldNode(i).outputs);
    }

    // what patterns ask

    bool isOnlyUser(ValueId value, std::size_t node) const {
        return !isKept(value) && users(value).size() == 1 && users(value)[0] == node;
    }
    bool isUsedOnlyAfter(ValueId value, std::size_t node) const {
        return std::ranges::all_of(users(value), [&](std::size_t user) { return user > node; });
    }
    bool isMadeBefore(ValueId value, std::size_t node) const {
        return !oldValue(value).producer || producerIndex(value) < node;
    }
    void drop(ValueId madeByDropped) { m_dropped[producerIndex(madeByDropped)] = true; }
    void replace(std::size_t at, Node node, std::vector<ValueId> outputs) {
        m_dropped[at] = true;
        m_fused[at] = {std::move(node), std::move(outputs)};
    }

    // forward: [batch norm + [other branch +]] ReLU

    // The batch norm that makes `value` for node `user` alone, and whose statistics nobody needs before `root`.
    const Node* normFor(ValueId value, std::size_t user, std::size_t root) const {
        const Node* norm = producer(value, kBatchNormTrain);
        if (!norm) norm = producer(value, kBatchNormEval);
        if (!norm || norm->outputs[0] != value || !isOnlyUser(value, user)) return nullptr;
        const auto isLater = [&](ValueId output) { return output == value || isUsedOnlyAfter(output, root); };
        return std::ranges::all_of(norm->outputs, isLater) ? norm : nullptr;
    }

    bool normForward(std::size_t relu) {
        if (!m_hasKernel(kNormTrain)) return false;
        const ValueId input = oldNode(relu).inputs[0];
        if (const Node* norm = normFor(input, relu, relu)) return replaceNorm(relu, *norm, nullptr, std::nullopt);
        const Node* add = producer(input, kAdd);
        const std::size_t at = producerIndex(input);
        if (!add || m_dropped[at] || !isOnlyUser(input, relu) || add->inputs[0] == add->inputs[1]) return false;
        const Node *first = normFor(add->inputs[0], at, relu), *second = normFor(add->inputs[1], at, relu);
        if (!first && !second) return false;
        m_dropped[at] = true;
        if (first && second && first->op == second->op) return replaceNorm(relu, *first, second, std::nullopt);
        return first ? replaceNorm(relu, *first, nullptr, add->inputs[1])
                     : replaceNorm(relu, *second, nullptr, add->inputs[0]);
    }

    bool replaceNorm(std::size_t relu, const Node& norm, const Node* second, std::optional<ValueId> residual) {
        FusedNormAttrs attrs{.norm = norm.attrs.as<BatchNormAttrs>(), .second = {}, .relu = true};
        std::vector<ValueId> inputs = norm.inputs, outputs = norm.outputs;
        outputs[0] = oldNode(relu).outputs[0];
        drop(norm.outputs[0]);
        if (residual) {
            attrs.residual = Residual::Tensor;
            inputs.push_back(*residual);
        }
        if (second) {
            attrs.residual = Residual::Norm;
            attrs.second = second->attrs.as<BatchNormAttrs>();
            inputs.insert(inputs.end(), second->inputs.begin(), second->inputs.end());
            outputs.insert(outputs.end(), second->outputs.begin() + 1, second->outputs.end());
            drop(second->outputs[0]);
        }
        const OpDef& op = norm.op == &kBatchNormTrain ? kNormTrain : kNormEval;
        replace(relu, {&op, std::move(inputs), {}, Attrs::of(attrs), norm.scope, {}}, std::move(outputs));
        return true;
    }

    bool reluAfter(std::size_t relu, const OpDef& op, const OpDef& fused) {
        if (!m_hasKernel(fused)) return false;
        const ValueId input = oldNode(relu).inputs[0];
        const Node* node = producer(input, op);
        if (!node || !isOnlyUser(input, relu)) return false;
        drop(input);
        replace(relu, {&fused, node->inputs, {}, node->attrs, node->scope, {}}, oldNode(relu).outputs);
        return true;
    }

    // backward: ReLU's mask [of a sum] into one or two batch norms

    std::vector<std::size_t> normsReached(ValueId gradient, std::size_t relu) const {
        std::vector<std::size_t> norms;
        for (const std::size_t user : users(gradient)) {
            const Node& node = oldNode(user);
            const bool isNorm = node.op == &kBatchNormBackward && node.inputs[4] == gradient;
            const auto isThere = [&](ValueId input) { return input == gradient || isMadeBefore(input, relu); };
            if (isNorm && std::ranges::all_of(node.inputs, isThere)) norms.push_back(user);
        }
        return norms;
    }

    bool normBackward(std::size_t relu) {
        if (!m_hasKernel(kNormBackward)) return false;
        const ValueId z = oldNode(relu).inputs[0], masked = oldNode(relu).outputs[0];
        const std::vector<std::size_t> norms = normsReached(masked, relu);
        if (norms.empty()) return false;
        const bool isAll = norms.size() == users(masked).size() && !isKept(masked);
        FusedNormBackwardAttrs attrs;
        attrs.other = isAll && norms.size() == 1   ? GradOther::None
                      : isAll && norms.size() == 2 ? GradOther::Norm
                                                   : GradOther::Kept;
        replaceNormBackward(relu, attrs, z, oldNode(norms[0]),
                            attrs.other == GradOther::Norm ? &oldNode(norms[1]) : nullptr);
        return true;
    }

    void replaceNormBackward(std::size_t relu, FusedNormBackwardAttrs attrs, ValueId z, const Node& norm,
                             const Node* second) {
        const ValueId masked = oldNode(relu).outputs[0];
        const auto [g1, g2] = gradientsOf(relu);
        std::vector<ValueId> inputs{g1, norm.inputs[0], norm.inputs[1], norm.inputs[2], norm.inputs[3]};
        attrs.pair = g2.has_value();
        if (g2) inputs.push_back(*g2);
        const auto beta = betaBehind(z, norm.inputs[0]);
        attrs.mask = beta ? GradMask::Recomputed : GradMask::FromOutput;
        inputs.push_back(beta.value_or(z));
        std::vector<ValueId> outputs = norm.outputs;
        drop(norm.outputs[0]);
        if (attrs.other == GradOther::None) m_normBackwards[norm.outputs[0]] = relu;
        if (attrs.other == GradOther::Kept) outputs.insert(outputs.begin(), masked);
        if (second) {
            inputs.insert(inputs.end(), second->inputs.begin(), second->inputs.begin() + 4);
            outputs.insert(outputs.begin(), second->outputs[0]);
            outputs.insert(outputs.end(), second->outputs.begin() + 1, second->outputs.end());
            drop(second->outputs[0]);
        }
        replace(relu, {&kNormBackward, std::move(inputs), {}, Attrs::of(attrs), norm.scope, {}}, std::move(outputs));
    }

    // The gradient of a branch around a norm goes in with that through it.
    bool addAfterNormBackward(std::size_t add) {
        for (const std::size_t side : {0, 1}) {
            const ValueId dx = oldNode(add).inputs[side];
            const auto found = m_normBackwards.find(dx);
            if (found == m_normBackwards.end() || !isOnlyUser(dx, add)) continue;
            const auto isLater = [&](ValueId output) { return output == dx || isUsedOnlyAfter(output, add); };
            if (!std::ranges::all_of(m_fused.at(found->second).outputs, isLater)) continue;
            Fused fused = std::move(m_fused.at(found->second));
            m_fused.erase(found->second);
            auto attrs = fused.node.attrs.as<FusedNormBackwardAttrs>();
            attrs.other = GradOther::Added;
            fused.node.attrs = Attrs::of(attrs);
            fused.node.inputs.push_back(oldNode(add).inputs[1 - side]);
            fused.outputs[0] = oldNode(add).outputs[0];
            replace(add, std::move(fused.node), std::move(fused.outputs));
            return true;
        }
        return false;
    }

    // A sum that only this node reads is read as its two parts.
    std::pair<ValueId, std::optional<ValueId>> gradientsOf(std::size_t relu) {
        const ValueId gradient = oldNode(relu).inputs[1];
        const Node* add = producer(gradient, kAdd);
        if (!add || m_dropped[producerIndex(gradient)] || !isOnlyUser(gradient, relu) ||
            add->inputs[0] == add->inputs[1])
            return {gradient, std::nullopt};
        drop(gradient);
        return {add->inputs[0], add->inputs[1]};
    }

    // beta, when z is ReLU of the batch norm of x and nothing else: then the mask follows from x, which is read anyway.
    std::optional<ValueId> betaBehind(ValueId z, ValueId x) const {
        const Node* relu = producer(z, kRelu);
        const Node* norm = relu ? producer(relu->inputs[0], kBatchNormTrain) : nullptr;
        if (!norm || norm->inputs[0] != x || norm->outputs[0] != relu->inputs[0]) return std::nullopt;
        return norm->inputs[2];
    }

    // backward: ReLU before max pooling

    bool poolBackward(std::size_t relu) {
        if (!m_hasKernel(kMaxPool2dBackwardRelu)) return false;
        const ValueId y = oldNode(relu).inputs[0], gradient = oldNode(relu).inputs[1];
        const Node* backward = producer(gradient, kMaxPool2dBackward);
        const Node* pool = backward ? producer(backward->inputs[1], kMaxPool2d) : nullptr;
        if (!pool || pool->inputs[0] != y || !isOnlyUser(gradient, relu)) return false;
        drop(gradient);
        const std::vector<ValueId> inputs{backward->inputs[0], backward->inputs[1], pool->outputs[0]};
        replace(relu, {&kMaxPool2dBackwardRelu, inputs, {}, backward->attrs, backward->scope, {}},
                oldNode(relu).outputs);
        return true;
    }

    // dense layers with what follows them, and layer norm's gradient with that of the branch around it

    // In training GELU's slopes are made with it and kept in place of its input, where only its gradient reads that.
    bool geluAfterDense(std::size_t gelu) {
        if (!m_hasKernel(kDenseGelu)) return false;
        const ValueId y = oldNode(gelu).inputs[0];
        const Node* dense = producer(y, kDense);
        const auto isSlopes = [&](std::size_t user) { return user == gelu || isGeluBeforeDense(user); };
        if (!dense || m_dropped[producerIndex(y)] || isKept(y) || !std::ranges::all_of(users(y), isSlopes))
            return false;
        std::vector<ValueId> outputs = oldNode(gelu).outputs;
        if (users(y).size() > 1) outputs.insert(outputs.begin(), y);
        m_dropped[gelu] = true;
        replace(producerIndex(y), {&kDenseGelu, dense->inputs, {}, dense->attrs, dense->scope, {}}, std::move(outputs));
        return true;
    }

    bool isGeluBeforeDense(std::size_t gelu) const {
        const Node& node = oldNode(gelu);
        return node.op == &kGeluBackward && producer(node.inputs[1], kDenseBackwardData) &&
               isOnlyUser(node.inputs[1], gelu);
    }

    bool geluBeforeDense(std::size_t gelu) {
        const ValueId x = oldNode(gelu).inputs[0], dy = oldNode(gelu).inputs[1];
        const auto forward = m_fused.find(producerIndex(x));
        if (!producer(x, kDense) || forward == m_fused.end() || forward->second.node.op != &kDenseGelu) return false;
        const Node* dense = producer(dy, kDenseBackwardData);
        drop(dy);
        const std::vector<ValueId> inputs{dense->inputs[0], dense->inputs[1], x};
        replace(gelu, {&kDenseBackwardDataGelu, inputs, {}, dense->attrs, dense->scope, {}}, oldNode(gelu).outputs);
        return true;
    }

    // The sum takes the place of the op's first output.
    bool addAfter(std::size_t add, const OpDef& op, const OpDef& fused) {
        if (!m_hasKernel(fused)) return false;
        for (const std::size_t side : {0, 1}) {
            const ValueId y = oldNode(add).inputs[side];
            const Node* node = producer(y, op);
            if (!node || node->outputs[0] != y || m_dropped[producerIndex(y)] || !isOnlyUser(y, add)) continue;
            if (!std::ranges::all_of(node->outputs, [&](ValueId output) { return isUsedOnlyAfter(output, add - 1); }))
                continue;
            std::vector<ValueId> inputs = node->inputs, outputs = node->outputs;
            inputs.push_back(oldNode(add).inputs[1 - side]);
            outputs[0] = oldNode(add).outputs[0];
            drop(y);
            replace(add, {&fused, std::move(inputs), {}, node->attrs, node->scope, {}}, std::move(outputs));
            return true;
        }
        return false;
    }

    // backward: weights and bias of one layer

    bool weightsAndBias(std::size_t bias, const OpDef& op, const OpDef& fused) {
        if (!m_hasKernel(fused)) return false;
        const ValueId dy = oldNode(bias).inputs[0];
        for (const std::size_t user : users(dy)) {
            const Node& weights = oldNode(user);
            const std::size_t at = std::min(user, bias);
            if (weights.op != &op || weights.inputs[1] != dy || m_dropped[user]) continue;
            if (!isMadeBefore(weights.inputs[0], at)) continue;
            m_dropped[user] = m_dropped[bias] = true;
            replace(at, {&fused, weights.inputs, {}, weights.attrs, weights.scope, {}},
                    {weights.outputs[0], oldNode(bias).outputs[0]});
            return true;
        }
        return false;
    }

    const Graph& m_graph;
    HasKernel m_hasKernel;
    std::vector<bool> m_dropped;                     // replaced by the fused node of another place, or of this one
    std::map<std::size_t, Fused> m_fused;            // by the place of the node that they replace
    std::map<ValueId, std::size_t> m_normBackwards;  // places of fused ones, by the dx that they make alone
};

}  // namespace

Graph fuse(const Graph& graph, HasKernel hasKernel) { return Fuser(graph, hasKernel).run(); }

}  // namespace lockstep
