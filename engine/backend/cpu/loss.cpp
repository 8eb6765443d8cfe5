#include "engine/ops/loss.h"

#include <algorithm>
#include <cmath>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

namespace {

// Logits of all samples in rows. One logit is about ten times the work of a float in other kernels.
struct Rows {
    std::size_t samples, classes;
    std::string where;

    explicit Rows(const Order& order)
        : samples(static_cast<std::size_t>(order.input(0).type.shape[0])),
          classes(static_cast<std::size_t>(order.input(0).type.shape[1])),
          where(order.where()) {}

    std::size_t work() const { return samples * classes * 10; }

    void checkLabels(const std::int32_t* labels) const {
        for (std::size_t n = 0; n < samples; ++n) {
            if (labels[n] >= 0 && static_cast<std::size_t>(labels[n]) < classes) continue;
            throw EngineError(EngineError::Kind::Device, where,
                              "label " + std::to_string(labels[n]) + " of sample " + std::to_string(n) +
                                  " is not one of " + std::to_string(classes) + " classes");
        }
    }
};

// log(sum(exp(z))), with the largest logit taken out so that exp cannot overflow.
double logSumExp(const float* z, std::size_t classes) {
    const float largest = *std::max_element(z, z + classes);
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += std::exp(z[c] - largest);
    return largest + std::log(sum);
}

double sampleLoss(const CrossEntropyAttrs& attrs, const float* z, std::size_t classes, std::size_t label) {
    const double logSum = logSumExp(z, classes);
    double loss = (1 - attrs.smoothing) * (logSum - z[label]);
    if (attrs.smoothing == 0) return loss;
    for (std::size_t c = 0; c < classes; ++c) loss += attrs.smoothing / static_cast<double>(classes) * (logSum - z[c]);
    return loss;
}

}  // namespace

// Each sample's loss waits in the workspace, so that the sum has one order whatever the threads.
std::unique_ptr<Kernel> makeCrossEntropy(const Order& order) {
    const Rows rows(order);
    return kernelOf(
        [threads = order.machine.threads, rows,
         attrs = order.node.attrs.as<CrossEntropyAttrs>()](const KernelCall& call) {
            const auto* labels = in<std::int32_t>(call, 1);
            auto* losses = reinterpret_cast<double*>(call.workspace);
            rows.checkLabels(labels);
            inParallel(threads, rows.samples, rows.work(), [&](std::size_t begin, std::size_t end) {
                for (std::size_t n = begin; n < end; ++n)
                    losses[n] = sampleLoss(attrs, in(call, 0) + n * rows.classes, rows.classes,
                                           static_cast<std::size_t>(labels[n]));
            });
            double sum = 0;
            for (std::size_t n = 0; n < rows.samples; ++n) sum += losses[n];
            *out<double>(call, 0) = sum;
            *out<double>(call, 1) = static_cast<double>(rows.samples);
        },
        rows.samples * sizeof(double));
}

std::unique_ptr<Kernel> makeCrossEntropyBackward(const Order& order) {
    return kernelOf([threads = order.machine.threads, rows = Rows(order),
                     attrs = order.node.attrs.as<CrossEntropyAttrs>()](const KernelCall& call) {
        const auto* labels = in<std::int32_t>(call, 1);
        const double factor = *in<double>(call, 2), rest = attrs.smoothing / static_cast<double>(rows.classes);
        rows.checkLabels(labels);
        inParallel(threads, rows.samples, rows.work(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t n = begin; n < end; ++n) {
                const float* z = in(call, 0) + n * rows.classes;
                float* dz = out(call, 0) + n * rows.classes;
                const double logSum = logSumExp(z, rows.classes);
                for (std::size_t c = 0; c < rows.classes; ++c) {
                    const double target = rest + (c == static_cast<std::size_t>(labels[n]) ? 1 - attrs.smoothing : 0);
                    dz[c] = static_cast<float>(factor * (std::exp(static_cast<float>(z[c] - logSum)) - target));
                }
            }
        });
    });
}

std::unique_ptr<Kernel> makeTopKCount(const Order& order) {
    return kernelOf([rows = Rows(order), k = order.node.attrs.as<TopKAttrs>().k](const KernelCall& call) {
        const auto* labels = in<std::int32_t>(call, 1);
        rows.checkLabels(labels);
        double count = 0;
        for (std::size_t n = 0; n < rows.samples; ++n) {
            const float* z = in(call, 0) + n * rows.classes;
            const auto label = static_cast<std::size_t>(labels[n]);
            if (std::isnan(z[label])) continue;
            std::int64_t before = 0;
            for (std::size_t c = 0; c < rows.classes; ++c)
                before += c != label && !(z[c] < z[label]) && !(z[c] == z[label] && c > label);
            count += before < k;
        }
        *out<double>(call, 0) = count;
    });
}

}  // namespace lockstep::cpu
