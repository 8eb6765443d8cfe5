#include "engine/ops/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"

namespace lockstep::reference {

namespace {

struct Rows {
    std::int64_t count, width;
};

Rows rowsOf(const Shape& shape) { return {shape.count() / shape[-1], shape[-1]}; }

}  // namespace

std::unique_ptr<Kernel> makeLayerNorm(const Graph& graph, const Node& node) {
    const Rows rows = rowsOf(inputShape(graph, node, 0));
    return kernelOf([rows, epsilon = node.attrs.as<LayerNormAttrs>().epsilon](const KernelCall& call) {
        const double *gamma = input(call, 1), *beta = input(call, 2);
        double *mean = output(call, 1), *invStd = output(call, 2);
        const auto width = static_cast<double>(rows.width);
        for (std::int64_t n = 0; n < rows.count; ++n) {
            const double* x = input(call, 0) + n * rows.width;
            double *y = output(call, 0) + n * rows.width, sum = 0, squares = 0;
            for (std::int64_t i = 0; i < rows.width; ++i) sum += x[i];
            mean[n] = sum / width;
            for (std::int64_t i = 0; i < rows.width; ++i) squares += (x[i] - mean[n]) * (x[i] - mean[n]);
            invStd[n] = 1 / std::sqrt(squares / width + epsilon);
            for (std::int64_t i = 0; i < rows.width; ++i) y[i] = gamma[i] * (x[i] - mean[n]) * invStd[n] + beta[i];
        }
    });
}

// With x^ = (x - mean) invStd and g = gamma dy:  dx = invStd (g - sum(g) / C - x^ sum(g x^) / C).
std::unique_ptr<Kernel> makeLayerNormBackward(const Graph& graph, const Node& node) {
    const Rows rows = rowsOf(inputShape(graph, node, 0));
    return kernelOf([rows](const KernelCall& call) {
        const double *gamma = input(call, 1), *mean = input(call, 2), *invStd = input(call, 3);
        double *dgamma = output(call, 1), *dbeta = output(call, 2);
        const auto width = static_cast<double>(rows.width);
        std::fill_n(dgamma, rows.width, 0.0);
        std::fill_n(dbeta, rows.width, 0.0);
        for (std::int64_t n = 0; n < rows.count; ++n) {
            const double *x = input(call, 0) + n * rows.width, *dy = input(call, 4) + n * rows.width;
            double *dx = output(call, 0) + n * rows.width, sum = 0, dot = 0;
            const auto normalized = [&](std::int64_t i) { return (x[i] - mean[n]) * invStd[n]; };
            for (std::int64_t i = 0; i < rows.width; ++i) {
                sum += gamma[i] * dy[i];
                dot += gamma[i] * dy[i] * normalized(i);
                dgamma[i] += dy[i] * normalized(i);
                dbeta[i] += dy[i];
            }
            for (std::int64_t i = 0; i < rows.width; ++i)
                dx[i] = invStd[n] * (gamma[i] * dy[i] - sum / width - normalized(i) * dot / width);
        }
    });
}

}  // namespace lockstep::reference
