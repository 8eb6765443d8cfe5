#include "engine/ops/activation.h"

#include <cmath>
#include <numbers>

#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"

namespace lockstep::reference {

namespace {

double normalCdf(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

double normalDensity(double x) { return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2; }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

template <class Function>
std::unique_ptr<Kernel> elementwise(const Graph& graph, const Node& node, Function y) {
    return loops([count = outputShape(graph, node, 0).count(), y](const KernelCall& call) {
        for (std::int64_t i = 0; i < count; ++i) output(call, 0)[i] = y(input(call, 0)[i]);
    });
}

template <class Function>
std::unique_ptr<Kernel> backward(const Graph& graph, const Node& node, Function derivative) {
    return loops([count = outputShape(graph, node, 0).count(), derivative](const KernelCall& call) {
        for (std::int64_t i = 0; i < count; ++i) output(call, 0)[i] = input(call, 1)[i] * derivative(input(call, 0)[i]);
    });
}

}  // namespace

std::unique_ptr<Kernel> makeGelu(const Graph& graph, const Node& node) {
    return elementwise(graph, node, [](double x) { return x * normalCdf(x); });
}

std::unique_ptr<Kernel> makeGeluBackward(const Graph& graph, const Node& node) {
    return backward(graph, node, [](double x) { return normalCdf(x) + x * normalDensity(x); });
}

std::unique_ptr<Kernel> makeSilu(const Graph& graph, const Node& node) {
    return elementwise(graph, node, [](double x) { return x * sigmoid(x); });
}

std::unique_ptr<Kernel> makeSiluBackward(const Graph& graph, const Node& node) {
    return backward(graph, node, [](double x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); });
}

}  // namespace lockstep::reference
