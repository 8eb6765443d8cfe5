#include "engine/ops/synchronised_norm.h"

#include <algorithm>
#include <cmath>

#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"

namespace lockstep::reference {

std::unique_ptr<Kernel> makeBatchNormSums(const Graph& graph, const Node& node) {
    const Extents extents = extentsOf(inputShape(graph, node, 0));
    return kernelOf([extents](const KernelCall& call) {
        const double *x = input(call, 0), *runningMean = input(call, 1);
        double* sums = output(call, 0);
        for (std::int64_t c = 0; c < extents.c; ++c) {
            double &sum = sums[c] = 0, &square = sums[extents.c + c] = 0;
            forEachInChannel(extents, c, [&](std::int64_t i) {
                const double deviation = x[i] - runningMean[c];
                sum += deviation;
                square += deviation * deviation;
            });
        }
        sums[2 * extents.c] = static_cast<double>(extents.n * extents.h * extents.w);
    });
}

std::unique_ptr<Kernel> makeBatchNormTrainFromSums(const Graph& graph, const Node& node) {
    const Extents extents = extentsOf(inputShape(graph, node, 0));
    const auto attrs = node.attrs.as<BatchNormAttrs>();
    return kernelOf([extents, attrs](const KernelCall& call) {
        const double *x = input(call, 0), *gamma = input(call, 1), *beta = input(call, 2);
        const double *runningMean = input(call, 3), *runningVariance = input(call, 4), *sums = input(call, 5);
        double *y = output(call, 0), *mean = output(call, 1), *invStd = output(call, 2);
        double *newMean = output(call, 3), *newVariance = output(call, 4);
        const double count = sums[2 * extents.c];
        for (std::int64_t c = 0; c < extents.c; ++c) {
            const double shift = sums[c] / count;
            const double squares = std::max(sums[extents.c + c] - shift * sums[c], 0.0);
            mean[c] = runningMean[c] + shift;
            invStd[c] = 1 / std::sqrt(squares / count + attrs.epsilon);
            newMean[c] = blend(attrs.momentum, runningMean[c], mean[c]);
            newVariance[c] = blend(attrs.momentum, runningVariance[c], squares / std::max(count - 1, 1.0));
            forEachInChannel(extents, c,
                             [&](std::int64_t i) { y[i] = gamma[c] * (x[i] - mean[c]) * invStd[c] + beta[c]; });
        }
    });
}

std::unique_ptr<Kernel> makeBatchNormBackwardSums(const Graph& graph, const Node& node) {
    const Extents extents = extentsOf(inputShape(graph, node, 0));
    return kernelOf([extents](const KernelCall& call) {
        const double *x = input(call, 0), *mean = input(call, 1), *invStd = input(call, 2), *dy = input(call, 3);
        double *sums = output(call, 0), *dgamma = output(call, 1), *dbeta = output(call, 2);
        for (std::int64_t c = 0; c < extents.c; ++c) {
            double sum = 0, dot = 0;
            forEachInChannel(extents, c, [&](std::int64_t i) {
                sum += dy[i];
                dot += dy[i] * (x[i] - mean[c]) * invStd[c];
            });
            sums[c] = dbeta[c] = sum;
            sums[extents.c + c] = dgamma[c] = dot;
        }
        sums[2 * extents.c] = static_cast<double>(extents.n * extents.h * extents.w);
    });
}

// As in batch_norm.cpp, with sums and count of all ranks.
std::unique_ptr<Kernel> makeBatchNormBackwardFromSums(const Graph& graph, const Node& node) {
    const Extents extents = extentsOf(inputShape(graph, node, 0));
    return kernelOf([extents](const KernelCall& call) {
        const double *x = input(call, 0), *gamma = input(call, 1), *mean = input(call, 2), *invStd = input(call, 3);
        const double *dy = input(call, 4), *sums = input(call, 5);
        double* dx = output(call, 0);
        const double count = sums[2 * extents.c];
        for (std::int64_t c = 0; c < extents.c; ++c) {
            const double sum = sums[c], dot = sums[extents.c + c];
            forEachInChannel(extents, c, [&](std::int64_t i) {
                const double normalized = (x[i] - mean[c]) * invStd[c];
                dx[i] = gamma[c] * invStd[c] * (dy[i] - sum / count - normalized * dot / count);
            });
        }
    });
}

}  // namespace lockstep::reference
