#include "engine/ops/dense.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/backend/backend.h"
#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"

namespace lockstep::reference {

namespace {

// An operand as a product reads it.
class Operand {
public:
    explicit Operand(const Node& node) : m_isHalf(operandsOf(node) == DType::BF16) {}
    double operator()(double x) const { return m_isHalf ? bf16Of(static_cast<float>(x)) : x; }

private:
    // To nearest, ties to even; what is cut off is half of an f32's bits. NaN stays NaN.
    static float bf16Of(float x) {
        if (std::isnan(x)) return x;
        const auto bits = std::bit_cast<std::uint32_t>(x);
        return std::bit_cast<float>((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
    }

    bool m_isHalf;
};

}  // namespace

std::unique_ptr<Kernel> makeDense(const Graph& graph, const Node& node) {
    const std::int64_t samples = inputShape(graph, node, 0)[0], in = inputShape(graph, node, 0)[1];
    const std::int64_t out = inputShape(graph, node, 1)[0];
    const bool hasBias = node.inputs.size() == 3;
    const Operand of(node);
    return kernelOf([=](const KernelCall& call) {
        const double *x = input(call, 0), *w = input(call, 1), *bias = hasBias ? input(call, 2) : nullptr;
        double* y = output(call, 0);
        for (std::int64_t n = 0; n < samples; ++n) {
            for (std::int64_t o = 0; o < out; ++o) {
                double sum = bias ? bias[o] : 0;
                for (std::int64_t i = 0; i < in; ++i) sum += of(x[n * in + i]) * of(w[o * in + i]);
                y[n * out + o] = sum;
            }
        }
    });
}

std::unique_ptr<Kernel> makeDenseBackwardData(const Graph& graph, const Node& node) {
    const std::int64_t samples = inputShape(graph, node, 0)[0];
    const std::int64_t out = inputShape(graph, node, 1)[0], in = inputShape(graph, node, 1)[1];
    const Operand of(node);
    return kernelOf([=](const KernelCall& call) {
        const double *dy = input(call, 0), *w = input(call, 1);
        double* dx = output(call, 0);
        std::fill_n(dx, samples * in, 0.0);
        for (std::int64_t n = 0; n < samples; ++n)
            for (std::int64_t o = 0; o < out; ++o)
                for (std::int64_t i = 0; i < in; ++i) dx[n * in + i] += of(dy[n * out + o]) * of(w[o * in + i]);
    });
}

std::unique_ptr<Kernel> makeDenseBackwardWeights(const Graph& graph, const Node& node) {
    const std::int64_t samples = inputShape(graph, node, 0)[0], in = inputShape(graph, node, 0)[1];
    const std::int64_t out = inputShape(graph, node, 1)[1];
    const Operand of(node);
    return kernelOf([=](const KernelCall& call) {
        const double *x = input(call, 0), *dy = input(call, 1);
        double* dw = output(call, 0);
        std::fill_n(dw, out * in, 0.0);
        for (std::int64_t n = 0; n < samples; ++n)
            for (std::int64_t o = 0; o < out; ++o)
                for (std::int64_t i = 0; i < in; ++i) dw[o * in + i] += of(dy[n * out + o]) * of(x[n * in + i]);
    });
}

std::unique_ptr<Kernel> makeDenseBackwardBias(const Graph& graph, const Node& node) {
    const std::int64_t samples = inputShape(graph, node, 0)[0], out = inputShape(graph, node, 0)[1];
    return kernelOf([=](const KernelCall& call) {
        const double* dy = input(call, 0);
        double* dbias = output(call, 0);
        std::fill_n(dbias, out, 0.0);
        for (std::int64_t i = 0; i < samples * out; ++i) dbias[i % out] += dy[i];
    });
}

}  // namespace lockstep::reference
