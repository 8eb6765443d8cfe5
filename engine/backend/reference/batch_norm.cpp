#include "engine/ops/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"

namespace lockstep::reference {

namespace {

struct Moments {
    double mean = 0, squares = 0;  // squares: of the deviations from the mean, summed
};

Moments momentsOf(const Extents& extents, std::int64_t c, const double* x, double count) {
    Moments moments;
    forEachInChannel(extents, c, [&](std::int64_t i) { moments.mean += x[i] / count; });
    forEachInChannel(extents, c,
                     [&](std::int64_t i) { moments.squares += (x[i] - moments.mean) * (x[i] - moments.mean); });
    return moments;
}

}  // namespace

std::unique_ptr<Kernel> makeBatchNormTrain(const Graph& graph, const Node& node) {
    const Extents extents = extentsOf(inputShape(graph, node, 0));
    const auto attrs = node.attrs.as<BatchNormAttrs>();
    return kernelOf([extents, attrs](const KernelCall& call) {
        const double *x = input(call, 0), *gamma = input(call, 1), *beta = input(call, 2);
        const double *runningMean = input(call, 3), *runningVariance = input(call, 4);
        double *y = output(call, 0), *mean = output(call, 1), *invStd = output(call, 2);
        double *newMean = output(call, 3), *newVariance = output(call, 4);
        const auto count = static_cast<double>(extents.n * extents.h * extents.w);
        for (std::int64_t c = 0; c < extents.c; ++c) {
            const Moments moments = momentsOf(extents, c, x, count);
            mean[c] = moments.mean;
            invStd[c] = 1 / std::sqrt(moments.squares / count + attrs.epsilon);
            newMean[c] = blend(attrs.momentum, runningMean[c], mean[c]);
            newVariance[c] = blend(attrs.momentum, runningVariance[c], moments.squares / std::max(count - 1, 1.0));
            forEachInChannel(extents, c,
                             [&](std::int64_t i) { y[i] = gamma[c] * (x[i] - mean[c]) * invStd[c] + beta[c]; });
        }
    });
}

std::unique_ptr<Kernel> makeBatchNormEval(const Graph& graph, const Node& node) {
    const Extents extents = extentsOf(inputShape(graph, node, 0));
    const auto attrs = node.attrs.as<BatchNormAttrs>();
    return kernelOf([extents, attrs](const KernelCall& call) {
        const double *x = input(call, 0), *gamma = input(call, 1), *beta = input(call, 2);
        const double *mean = input(call, 3), *variance = input(call, 4);
        double* y = output(call, 0);
        for (std::int64_t c = 0; c < extents.c; ++c) {
            const double scale = gamma[c] / std::sqrt(variance[c] + attrs.epsilon);
            forEachInChannel(extents, c, [&](std::int64_t i) { y[i] = scale * (x[i] - mean[c]) + beta[c]; });
        }
    });
}

std::unique_ptr<Kernel> makeBatchNormEvalBackward(const Graph& graph, const Node& node) {
    const Extents extents = extentsOf(inputShape(graph, node, 0));
    const auto attrs = node.attrs.as<BatchNormAttrs>();
    return kernelOf([extents, attrs](const KernelCall& call) {
        const double *dy = input(call, 0), *gamma = input(call, 1), *variance = input(call, 2);
        double* dx = output(call, 0);
        for (std::int64_t c = 0; c < extents.c; ++c) {
            const double scale = gamma[c] / std::sqrt(variance[c] + attrs.epsilon);
            forEachInChannel(extents, c, [&](std::int64_t i) { dx[i] = scale * dy[i]; });
        }
    });
}

// With x^ = (x - mean) invStd:  dx = gamma invStd (dy - sum(dy) / n - x^ sum(dy x^) / n).
std::unique_ptr<Kernel> makeBatchNormBackward(const Graph& graph, const Node& node) {
    const Extents extents = extentsOf(inputShape(graph, node, 0));
    return kernelOf([extents](const KernelCall& call) {
        const double *x = input(call, 0), *gamma = input(call, 1), *mean = input(call, 2), *invStd = input(call, 3);
        const double* dy = input(call, 4);
        double *dx = output(call, 0), *dgamma = output(call, 1), *dbeta = output(call, 2);
        const auto count = static_cast<double>(extents.n * extents.h * extents.w);
        for (std::int64_t c = 0; c < extents.c; ++c) {
            const auto normalized = [&](std::int64_t i) { return (x[i] - mean[c]) * invStd[c]; };
            double sum = 0, dot = 0;
            forEachInChannel(extents, c, [&](std::int64_t i) {
                sum += dy[i];
                dot += dy[i] * normalized(i);
            });
            dgamma[c] = dot;
            dbeta[c] = sum;
            forEachInChannel(extents, c, [&](std::int64_t i) {
                dx[i] = gamma[c] * invStd[c] * (dy[i] - sum / count - normalized(i) * dot / count);
            });
        }
    });
}

}  // namespace lockstep::reference
