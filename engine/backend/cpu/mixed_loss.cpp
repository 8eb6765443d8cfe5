#include "engine/ops/mixed_loss.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

namespace {

// A sample's row of logits and what its softmax should be. Sums are over few classes, so plain loops do.
struct Row {
    const float* z;
    std::size_t classes, label, other;
    double first, second, rest;  // the targets of the labels, and of every class besides

    // log(sum(exp(z))), with the largest logit taken out so that exp cannot overflow.
    double logSumExp() const {
        const float largest = *std::max_element(z, z + classes);
        double sum = 0;
        for (std::size_t c = 0; c < classes; ++c) sum += std::exp(z[c] - largest);
        return largest + std::log(sum);
    }

    double loss() const {
        const double logSum = logSumExp();
        double loss = first * (logSum - z[label]) + second * (logSum - z[other]);
        for (std::size_t c = 0; c < classes && rest != 0; ++c) loss += rest * (logSum - z[c]);
        return loss;
    }

    void backward(double factor, float* dz) const {
        const double logSum = logSumExp();
        for (std::size_t c = 0; c < classes; ++c) {
            const double target = rest + (c == label ? first : 0) + (c == other ? second : 0);
            dz[c] = static_cast<float>(factor * (std::exp(static_cast<float>(z[c] - logSum)) - target));
        }
    }
};

class Rows {
public:
    explicit Rows(const Order& order)
        : m_samples(static_cast<std::size_t>(order.input(0).type.shape[0])),
          m_classes(static_cast<std::size_t>(order.input(0).type.shape[1])),
          m_smoothing(order.node.attrs.as<CrossEntropyAttrs>().smoothing),
          m_masked(order.node.attrs.as<CrossEntropyAttrs>().masked),
          m_threads(order.machine.threads),
          m_where(order.where()) {}

    std::size_t samples() const { return m_samples; }
    std::size_t classes() const { return m_classes; }

    static bool counts(const KernelCall& call, std::size_t n) { return in<std::int32_t>(call, 1)[n] >= 0; }

    void check(const KernelCall& call) const {
        for (const std::size_t which : {1, 2}) {
            for (std::size_t n = 0; n < m_samples; ++n) {
                const std::int32_t label = in<std::int32_t>(call, which)[n];
                if (m_masked && !counts(call, n)) continue;
                if (label >= 0 && static_cast<std::size_t>(label) < m_classes) continue;
                throw EngineError(EngineError::Kind::Device, m_where,
                                  "label " + std::to_string(label) + " of sample " + std::to_string(n) +
                                      " is not one of " + std::to_string(m_classes) + " classes");
            }
        }
    }

    template <class Body>
    void forEach(const KernelCall& call, Body body) const {
        inParallel(m_threads, m_samples, m_samples * m_classes * 10, [&](std::size_t begin, std::size_t end) {
            for (std::size_t n = begin; n < end; ++n) {
                if (!counts(call, n)) continue;
                const double lambda = in(call, 3)[n], kept = 1 - m_smoothing;
                body(n,
                     Row{in(call, 0) + n * m_classes, m_classes, static_cast<std::size_t>(in<std::int32_t>(call, 1)[n]),
                         static_cast<std::size_t>(in<std::int32_t>(call, 2)[n]), kept * lambda, kept * (1 - lambda),
                         m_smoothing / static_cast<double>(m_classes)});
            }
        });
    }

private:
    std::size_t m_samples, m_classes;
    double m_smoothing;
    bool m_masked;
    int m_threads;
    std::string m_where;
};

}  // namespace

// Each sample's loss waits in the workspace, so that the sum has one order whatever the threads.
std::unique_ptr<Kernel> makeMixedCrossEntropy(const Order& order) {
    const Rows rows(order);
    return kernelOf(
        [rows](const KernelCall& call) {
            auto* losses = reinterpret_cast<double*>(call.workspace);
            rows.check(call);
            rows.forEach(call, [&](std::size_t n, const Row& row) { losses[n] = row.loss(); });
            double sum = 0, weight = 0;
            for (std::size_t n = 0; n < rows.samples(); ++n) {
                if (rows.counts(call, n)) sum += losses[n], ++weight;
            }
            *out<double>(call, 0) = sum;
            *out<double>(call, 1) = weight;
        },
        rows.samples() * sizeof(double));
}

std::unique_ptr<Kernel> makeMixedCrossEntropyBackward(const Order& order) {
    return kernelOf([rows = Rows(order)](const KernelCall& call) {
        const double factor = *in<double>(call, 4);
        rows.check(call);
        for (std::size_t n = 0; n < rows.samples(); ++n) {
            if (!rows.counts(call, n)) std::fill_n(out(call, 0) + n * rows.classes(), rows.classes(), 0.0f);
        }
        rows.forEach(call,
                     [&](std::size_t n, const Row& row) { row.backward(factor, out(call, 0) + n * rows.classes()); });
    });
}

}  // namespace lockstep::cpu
