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

struct Formula {
    double (*value)(double x), (*slope)(double x);
};

Formula formulaOf(ActivationKind kind) {
    switch (kind) {
        case ActivationKind::Gelu:
            return {[](double x) { return x * normalCdf(x); },
                    [](double x) { return normalCdf(x) + x * normalDensity(x); }};
        case ActivationKind::Silu:
            return {[](double x) { return x * sigmoid(x); },
                    [](double x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }};
    }
    return {};
}

}  // namespace

std::unique_ptr<Kernel> makeActivation(const Graph& graph, const Node& node) {
    const auto value = formulaOf(activationKind(*node.op)).value;
    return kernelOf([count = outputShape(graph, node, 0).count(), value](const KernelCall& call) {
        for (std::int64_t i = 0; i < count; ++i) output(call, 0)[i] = value(input(call, 0)[i]);
    });
}

std::unique_ptr<Kernel> makeActivationBackward(const Graph& graph, const Node& node) {
    const auto slope = formulaOf(activationKind(*node.op)).slope;
    return kernelOf([count = outputShape(graph, node, 0).count(), slope](const KernelCall& call) {
        for (std::int64_t i = 0; i < count; ++i) output(call, 0)[i] = input(call, 1)[i] * slope(input(call, 0)[i]);
    });
}

}  // namespace lockstep::reference
