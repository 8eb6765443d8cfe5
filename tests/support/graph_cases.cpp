#include <cmath>

#include "engine/core/random.h"
#include "tests/support/op_cases.h"
#include "tests/support/small_net.h"

namespace lockstep::test {

namespace {

constexpr std::int64_t kClasses = 10;

Graph mlp(DType compute) {
    Net net(compute, true, {9, 1, 5, 6});
    const ValueId hidden = net.relu(net.dense(net.flatten(net.image()), 32));
    return net.finish(net.dense(net.relu(net.dense(hidden, 17)), kClasses));
}

// On the CPU its few samples lie in lanes in training, as many would.
Graph lenet(DType compute, bool training) {
    Net net(compute, training, {4, 1, 16, 16});
    ValueId x = net.maxPool(net.relu(net.conv(net.image(), 6, 5, {.padding = {2, 2}}, true)));
    x = net.maxPool(net.relu(net.conv(x, 16, 3, {}, true)));
    x = net.relu(net.dense(net.flatten(x), 24));
    if (training) x = net.dropout(x, 0.4);
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
        if (isFloat(value.type.dtype)) x = static_cast<float>(valueFor(value, rng, e));
        else x = static_cast<double>(rng.below(kClasses, e));
    }
    return tensor;
}

}  // namespace

const std::vector<GraphCase>& graphCases() {
    static const std::vector<GraphCase> cases{
        {"mlp", mlp},
        {"lenet", [](DType compute) { return lenet(compute, true); }},
        {"lenet-evaluation", [](DType compute) { return lenet(compute, false); }},
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
