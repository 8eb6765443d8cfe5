#include <cmath>

#include "engine/autodiff/gradients.h"
#include "engine/core/random.h"
#include "engine/ops/activation.h"
#include "engine/ops/attention.h"
#include "engine/ops/batch_norm.h"
#include "engine/ops/conv2d.h"
#include "engine/ops/dense.h"
#include "engine/ops/dropout.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/layer_norm.h"
#include "engine/ops/loss.h"
#include "engine/ops/pool2d.h"
#include "engine/ops/synchronised_norm.h"
#include "engine/ops/tokens.h"
#include "tests/support/op_cases.h"

namespace lockstep::test {

namespace {

constexpr std::int64_t kClasses = 10;

// Writes a small network in one element type, naming parameters in order.
class Net {
public:
    Net(DType compute, bool training, const Shape& image, bool synchronises = false)
        : m_builder(training, synchronises), m_compute(compute) {
        m_image = m_builder.input("image", {image, compute});
        m_labels = m_builder.input("label", {{image[0]}, DType::I32});
        m_ids = m_builder.input("ids", {{image[0]}, DType::I64});
    }

    ValueId image() const { return m_image; }

    ValueId conv(ValueId x, std::int64_t channels, int window, const Conv2dAttrs& attrs, bool hasBias = false) {
        const std::string name = next("conv");
        const std::int64_t in = m_builder.typeOf(x).shape[1] / attrs.groups;
        const ValueId w = parameter(name + "/weight", {channels, in, window, window});
        std::optional<ValueId> bias;
        if (hasBias) bias = parameter(name + "/bias", {channels});
        return conv2d(m_builder, x, w, bias, attrs, name);
    }

    ValueId norm(ValueId x) {
        const std::string name = next("norm");
        const Shape channels{m_builder.typeOf(x).shape[1]};
        const ValueId gamma = parameter(name + "/gamma", channels), beta = parameter(name + "/beta", channels);
        const TensorType type{channels, m_compute};
        const ValueId mean = m_builder.graph().addBuffer(name + "/mean", type, {});
        const ValueId variance = m_builder.graph().addBuffer(name + "/variance", type, {});
        const auto norm = m_builder.synchronises() ? synchronisedNorm : batchNorm;
        return norm(m_builder, x, gamma, beta, mean, variance, {}, name);
    }

    ValueId dense(ValueId x, std::int64_t out) {
        const std::string name = next("dense");
        const ValueId w = parameter(name + "/weight", {out, m_builder.typeOf(x).shape[1]});
        return lockstep::dense(m_builder, x, w, parameter(name + "/bias", {out}), name);
    }

    ValueId rowsDense(ValueId x, std::int64_t out) {
        const Shape shape = m_builder.typeOf(x).shape;
        const ValueId y = dense(reshape(m_builder, x, {shape[0] * shape[1], shape[2]}, next("rows")), out);
        return reshape(m_builder, y, {shape[0], shape[1], out}, next("tokens"));
    }

    ValueId layerNorm(ValueId x) {
        const std::string name = next("norm");
        const Shape features{m_builder.typeOf(x).shape[-1]};
        const ValueId gamma = parameter(name + "/gamma", features), beta = parameter(name + "/beta", features);
        return lockstep::layerNorm(m_builder, x, gamma, beta, {}, name);
    }

    ValueId tokens(ValueId image) {
        const ValueId x = pixelsToTokens(m_builder, image, next("tokens"));
        const Shape row(m_builder.typeOf(x).shape.dims().subspan(1));
        return broadcastAdd(m_builder, x, parameter("positions", row), next("positions"));
    }

    ValueId attention(ValueId x, int heads, bool causal) {
        const ValueId qkv = rowsDense(x, 3 * m_builder.typeOf(x).shape[2]);
        return lockstep::attention(m_builder, qkv, std::nullopt, {heads, causal}, next("attention"));
    }
    ValueId gelu(ValueId x) { return lockstep::gelu(m_builder, x, next("gelu")); }
    ValueId silu(ValueId x) { return lockstep::silu(m_builder, x, next("silu")); }
    ValueId tokenMean(ValueId x) { return lockstep::tokenMean(m_builder, x, next("mean")); }

    ValueId relu(ValueId x) { return lockstep::relu(m_builder, x, next("relu")); }
    ValueId add(ValueId x, ValueId y) { return lockstep::add(m_builder, x, y, next("add")); }
    ValueId dropout(ValueId x, double rate) { return lockstep::dropout(m_builder, x, m_ids, rate, next("dropout")); }
    ValueId flatten(ValueId x) { return lockstep::flatten(m_builder, x, next("flatten")); }
    ValueId maxPool(ValueId x, const Pool2dAttrs& attrs = {}) { return maxPool2d(m_builder, x, attrs, next("max")); }
    ValueId averagePool(ValueId x, const Pool2dAttrs& attrs) {
        return averagePool2d(m_builder, x, attrs, next("average"));
    }
    ValueId globalPool(ValueId x) { return globalAveragePool2d(m_builder, x, next("global")); }

    Graph finish(ValueId logits, double smoothing = 0) {
        const LossValues loss = crossEntropy(m_builder, logits, m_labels, smoothing, "loss");
        Graph& graph = m_builder.graph();
        graph.addOutput("loss_sum", loss.sum);
        graph.addOutput("weight", loss.weight);
        graph.addOutput("logits", logits);
        graph.addOutput("correct1", topKCount(m_builder, logits, m_labels, 1, "top1"));
        if (m_builder.training()) appendGradients(graph, loss.sum);
        return m_builder.take();
    }

private:
    ValueId parameter(const std::string& name, const Shape& shape) {
        return m_builder.graph().addParameter(name, {shape, m_compute}, {}, true);
    }
    std::string next(const std::string& kind) { return kind + std::to_string(++m_count); }

    GraphBuilder m_builder;
    DType m_compute;
    ValueId m_image{}, m_labels{}, m_ids{};
    int m_count = 0;
};

Graph mlp(DType compute) {
    Net net(compute, true, {9, 1, 5, 6});
    const ValueId hidden = net.relu(net.dense(net.flatten(net.image()), 32));
    return net.finish(net.dense(net.relu(net.dense(hidden, 17)), kClasses));
}

Graph lenet(DType compute) {
    Net net(compute, true, {4, 1, 16, 16});
    ValueId x = net.maxPool(net.relu(net.conv(net.image(), 6, 5, {.padding = {2, 2}}, true)));
    x = net.maxPool(net.relu(net.conv(x, 16, 3, {}, true)));
    x = net.dropout(net.relu(net.dense(net.flatten(x), 24)), 0.4);
    return net.finish(net.dense(x, kClasses), 0.1);
}

ValueId residualBlock(Net& net, ValueId x, std::int64_t channels, int stride) {
    ValueId y = net.relu(net.norm(net.conv(x, channels, 3, {.stride = {stride, stride}, .padding = {1, 1}})));
    y = net.norm(net.conv(y, channels, 3, {.padding = {1, 1}}));
    const bool projects = stride != 1;
    const ValueId shortcut = projects ? net.norm(net.conv(x, channels, 1, {.stride = {stride, stride}})) : x;
    return net.relu(net.add(y, shortcut));
}

Graph residual(DType compute, bool training, bool synchronises = false) {
    Net net(compute, training, {4, 3, 8, 8}, synchronises);
    ValueId x = net.relu(net.norm(net.conv(net.image(), 16, 3, {.padding = {1, 1}})));
    x = residualBlock(net, x, 16, 1);
    x = residualBlock(net, x, 32, 2);
    return net.finish(net.dense(net.globalPool(x), kClasses));
}

// Channel counts that fit no block, and every way for values to be shared.
Graph oddBranches(DType compute, bool training, bool synchronises = false) {
    Net net(compute, training, {3, 3, 11, 9}, synchronises);
    const ValueId trunk = net.norm(net.conv(net.image(), 6, 3, {.stride = {2, 2}, .padding = {1, 1}}, true));
    const ValueId left = net.conv(net.relu(trunk), 7, 3, {.padding = {2, 2}, .dilation = {2, 2}}, true);
    const ValueId grouped = net.conv(trunk, 6, 3, {.padding = {1, 1}, .groups = 3});
    const ValueId right = net.conv(net.add(grouped, trunk), 7, 1, {});
    const ValueId joined = net.add(net.add(left, right), left);
    const Pool2dAttrs pool{.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};
    const ValueId pooled = net.add(net.averagePool(joined, pool), net.maxPool(joined, pool));
    return net.finish(net.dense(net.norm(net.dense(net.flatten(pooled), 13)), kClasses));
}

// Few channels and whole groups of samples: on the CPU those lie in lanes, also where norms are.
Graph manySamples(DType compute, bool synchronises) {
    Net net(compute, true, {32, 2, 9, 7}, synchronises);
    ValueId x = net.norm(net.relu(net.norm(net.conv(net.image(), 5, 3, {.padding = {1, 1}}))));
    x = net.relu(net.add(net.norm(net.conv(x, 5, 3, {.padding = {1, 1}})), x));
    return net.finish(net.dense(net.flatten(net.maxPool(x)), kClasses));
}

// Patches of an image as tokens of an odd width.
Graph transformer(DType compute, bool training) {
    Net net(compute, training, {3, 3, 12, 9}, false);
    ValueId x = net.tokens(net.silu(net.conv(net.image(), 20, 3, {.stride = {3, 3}}, true)));
    for (const bool causal : {false, true}) {
        x = net.add(x, net.attention(net.layerNorm(x), 2, causal));
        const ValueId hidden = net.rowsDense(net.layerNorm(x), 33);
        x = net.add(x, net.rowsDense(causal ? net.silu(hidden) : net.gelu(hidden), 20));
    }
    return net.finish(net.dense(net.tokenMean(net.layerNorm(x)), kClasses));
}

double valueFor(const Value& value, const CounterRng& rng, std::uint32_t element) {
    const double normal = rng.normal(element);
    if (value.name.ends_with("/variance")) return 0.5 + rng.uniform(element);
    if (value.name.ends_with("/gamma")) return 1 + 0.1 * normal;
    if (value.role == ValueRole::Parameter && value.type.shape.rank() > 1) {
        const std::int64_t fanIn = value.type.shape.count() / value.type.shape[0];
        return normal * std::sqrt(2.0 / static_cast<double>(fanIn));
    }
    return value.role == ValueRole::Input ? normal : 0.1 * normal;
}

HostTensor tensorFor(const Value& value, const CounterRng& rng) {
    HostTensor tensor({value.type.shape, DType::F64});
    std::uint32_t element = 0;
    for (double& x : tensor.as<double>()) {
        const std::uint32_t e = element++;
        if (isFloat(value.type.dtype))
            x = static_cast<float>(valueFor(value, rng, e));
        else
            x = static_cast<double>(rng.below(kClasses, e));
    }
    return tensor;
}

}  // namespace

const std::vector<GraphCase>& graphCases() {
    static const std::vector<GraphCase> cases{
        {"mlp", mlp},
        {"lenet", lenet},
        {"transformer", [](DType compute) { return transformer(compute, true); }},
        {"transformer-evaluation", [](DType compute) { return transformer(compute, false); }},
        {"residual", [](DType compute) { return residual(compute, true); }},
        {"residual-evaluation", [](DType compute) { return residual(compute, false); }},
        {"residual-synchronised", [](DType compute) { return residual(compute, true, true); }},
        {"odd-branches", [](DType compute) { return oddBranches(compute, true); }},
        {"odd-branches-evaluation", [](DType compute) { return oddBranches(compute, false); }},
        {"odd-branches-synchronised", [](DType compute) { return oddBranches(compute, true, true); }},
        {"many-samples", [](DType compute) { return manySamples(compute, false); }},
        {"many-samples-synchronised", [](DType compute) { return manySamples(compute, true); }},
    };
    return cases;
}

Tensors randomTensors(const Graph& graph, std::uint64_t seed) {
    Tensors tensors;
    for (const Value& value : graph.values())
        if (value.role != ValueRole::Intermediate)
            tensors.emplace(value.name, tensorFor(value, CounterRng(seed, streamOf(value.name), 0, 0)));
    return tensors;
}

}  // namespace lockstep::test
