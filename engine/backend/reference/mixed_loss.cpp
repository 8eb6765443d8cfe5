#include "engine/ops/mixed_loss.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"
#include "engine/core/error.h"

namespace lockstep::reference {

namespace {

// The targets of a batch: for each sample and class what the softmax should be.
class Targets {
public:
    Targets(const Graph& graph, const Node& node)
        : m_samples(inputShape(graph, node, 0)[0]),
          m_classes(inputShape(graph, node, 0)[1]),
          m_smoothing(node.attrs.as<CrossEntropyAttrs>().smoothing),
          m_masked(node.attrs.as<CrossEntropyAttrs>().masked) {}

    std::int64_t samples() const { return m_samples; }
    std::int64_t classes() const { return m_classes; }

    static bool counts(const KernelCall& call, std::int64_t n) { return input<std::int32_t>(call, 1)[n] >= 0; }

    void check(const KernelCall& call) const {
        for (const std::size_t which : {1, 2}) {
            for (std::int64_t n = 0; n < m_samples; ++n) {
                const std::int32_t label = input<std::int32_t>(call, which)[n];
                if ((m_masked && !counts(call, n)) || (label >= 0 && label < m_classes)) continue;
                throw EngineError(EngineError::Kind::Device, "reference",
                                  "label " + std::to_string(label) + " of sample " + std::to_string(n) +
                                      " is not one of " + std::to_string(m_classes) + " classes");
            }
        }
    }

    double at(const KernelCall& call, std::int64_t n, std::int64_t c) const {
        const double lambda = input(call, 3)[n];
        double share = 0;
        if (input<std::int32_t>(call, 1)[n] == c) share += lambda;
        if (input<std::int32_t>(call, 2)[n] == c) share += 1 - lambda;
        return (1 - m_smoothing) * share + m_smoothing / static_cast<double>(m_classes);
    }

private:
    std::int64_t m_samples, m_classes;
    double m_smoothing;
    bool m_masked;
};

}  // namespace

std::unique_ptr<Kernel> makeMixedCrossEntropy(const Graph& graph, const Node& node) {
    return kernelOf([targets = Targets(graph, node)](const KernelCall& call) {
        targets.check(call);
        double sum = 0, weight = 0;
        for (std::int64_t n = 0; n < targets.samples(); ++n) {
            if (!targets.counts(call, n)) continue;
            ++weight;
            const double* z = input(call, 0) + n * targets.classes();
            const double logSum = logSumExp(z, targets.classes());
            for (std::int64_t c = 0; c < targets.classes(); ++c) {
                const double target = targets.at(call, n, c);
                if (target != 0) sum += target * (logSum - z[c]);
            }
        }
        *output(call, 0) = sum;
        *output(call, 1) = weight;
    });
}

std::unique_ptr<Kernel> makeMixedCrossEntropyBackward(const Graph& graph, const Node& node) {
    return kernelOf([targets = Targets(graph, node)](const KernelCall& call) {
        targets.check(call);
        for (std::int64_t n = 0; n < targets.samples(); ++n) {
            const double* z = input(call, 0) + n * targets.classes();
            double* dz = output(call, 0) + n * targets.classes();
            const double logSum = logSumExp(z, targets.classes());
            const bool counts = targets.counts(call, n);
            for (std::int64_t c = 0; c < targets.classes(); ++c)
                dz[c] = counts ? *input(call, 4) * (std::exp(z[c] - logSum) - targets.at(call, n, c)) : 0;
        }
    });
}

}  // namespace lockstep::reference
