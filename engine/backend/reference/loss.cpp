#include "engine/ops/loss.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"
#include "engine/core/error.h"

namespace lockstep::reference {

namespace {

// Rows of logits with their labels; a label must be a class, or -1 where such rows do not count.
struct Batch {
    std::int64_t samples, classes;
    bool masked;

    std::int64_t labelOf(const std::int32_t* labels, std::int64_t sample) const {
        const std::int64_t label = labels[sample];
        if (label < (masked ? -1 : 0) || label >= classes)
            throw EngineError(EngineError::Kind::Device, "reference",
                              "label " + std::to_string(label) + " of sample " + std::to_string(sample) +
                                  " is not one of " + std::to_string(classes) + " classes");
        return label;
    }
};

Batch batchOf(const Graph& graph, const Node& node, bool masked) {
    const Shape& logits = inputShape(graph, node, 0);
    return {logits.count() / logits[-1], logits[-1], masked};
}

double target(const CrossEntropyAttrs& attrs, std::int64_t classes, bool isLabel) {
    return (isLabel ? 1 - attrs.smoothing : 0) + attrs.smoothing / static_cast<double>(classes);
}

}  // namespace

std::unique_ptr<Kernel> makeCrossEntropy(const Graph& graph, const Node& node) {
    const auto attrs = node.attrs.as<CrossEntropyAttrs>();
    return kernelOf([batch = batchOf(graph, node, attrs.masked), attrs](const KernelCall& call) {
        const double* logits = input(call, 0);
        const auto* labels = input<std::int32_t>(call, 1);
        double sum = 0, weight = 0;
        for (std::int64_t n = 0; n < batch.samples; ++n) {
            const double* z = logits + n * batch.classes;
            const std::int64_t label = batch.labelOf(labels, n);
            if (label < 0) continue;
            const double logSum = logSumExp(z, batch.classes);
            for (std::int64_t c = 0; c < batch.classes; ++c) {
                const double share = target(attrs, batch.classes, c == label);
                if (share != 0) sum += share * (logSum - z[c]);
            }
            ++weight;
        }
        *output(call, 0) = sum;
        *output(call, 1) = weight;
    });
}

std::unique_ptr<Kernel> makeCrossEntropyBackward(const Graph& graph, const Node& node) {
    const auto attrs = node.attrs.as<CrossEntropyAttrs>();
    return kernelOf([batch = batchOf(graph, node, attrs.masked), attrs](const KernelCall& call) {
        const double *logits = input(call, 0), *dLossSum = input(call, 2);
        const auto* labels = input<std::int32_t>(call, 1);
        double* dlogits = output(call, 0);
        std::fill_n(dlogits, batch.samples * batch.classes, 0.0);
        for (std::int64_t n = 0; n < batch.samples; ++n) {
            const double* z = logits + n * batch.classes;
            double* dz = dlogits + n * batch.classes;
            const std::int64_t label = batch.labelOf(labels, n);
            if (label < 0) continue;
            const double logSum = logSumExp(z, batch.classes);
            for (std::int64_t c = 0; c < batch.classes; ++c)
                dz[c] = *dLossSum * (std::exp(z[c] - logSum) - target(attrs, batch.classes, c == label));
        }
    });
}

std::unique_ptr<Kernel> makeTopKCount(const Graph& graph, const Node& node) {
    const auto attrs = node.attrs.as<TopKAttrs>();
    return kernelOf([batch = batchOf(graph, node, attrs.masked), k = attrs.k](const KernelCall& call) {
        const double* logits = input(call, 0);
        const auto* labels = input<std::int32_t>(call, 1);
        double count = 0;
        for (std::int64_t n = 0; n < batch.samples; ++n) {
            const double* z = logits + n * batch.classes;
            const std::int64_t label = batch.labelOf(labels, n);
            if (label < 0 || std::isnan(z[label])) continue;
            std::int64_t before = 0;
            for (std::int64_t c = 0; c < batch.classes; ++c)
                before += c != label && !(z[c] < z[label]) && !(z[c] == z[label] && c > label);
            count += before < k;
        }
        *output(call, 0) = count;
    });
}

}  // namespace lockstep::reference
