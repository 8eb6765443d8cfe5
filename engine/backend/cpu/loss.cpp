#include "engine/ops/loss.h"

#include <algorithm>
#include <cmath>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

namespace {

// Rows of logits and their labels; -1 where such rows do not count. One logit is about four times the work of a float
// in other kernels.
struct LogitRows {
    std::size_t count, classes;
    bool masked;
    std::string where;

    LogitRows(const Order& order, bool ignores)
        : classes(static_cast<std::size_t>(order.input(0).type.shape[-1])), masked(ignores), where(order.where()) {
        count = static_cast<std::size_t>(order.input(0).type.shape.count()) / classes;
    }

    const std::int32_t* labelsOf(const KernelCall& call) const {
        const auto* labels = in<std::int32_t>(call, 1);
        for (std::size_t n = 0; n < count; ++n) {
            if (labels[n] >= (masked ? -1 : 0) && labels[n] < static_cast<std::int64_t>(classes)) continue;
            throw EngineError(EngineError::Kind::Device, where,
                              "label " + std::to_string(labels[n]) + " of sample " + std::to_string(n) +
                                  " is not one of " + std::to_string(classes) + " classes");
        }
        return labels;
    }

    // body(row, logits) for those that count, otherwise(row)
    template <class Body, class Otherwise>
    void forEach(int threads, const KernelCall& call, Body body, Otherwise otherwise) const {
        const std::int32_t* labels = labelsOf(call);
        inParallel(threads, count, count * classes * 4, [&](std::size_t begin, std::size_t end) {
            for (std::size_t n = begin; n < end; ++n) {
                if (labels[n] < 0) otherwise(n);
                else body(n, in(call, 0) + n * classes, static_cast<std::size_t>(labels[n]));
            }
        });
    }
};

// The largest logit is taken out so that exp cannot overflow.
struct Softmax {
    float largest = 0, sum = 0;

    Softmax(const Machine& machine, const float* z, std::size_t classes) {
        machine.simd->softmaxSums(z, classes, &largest, &sum);
    }
    double logSum() const { return static_cast<double>(largest) + std::log(static_cast<double>(sum)); }
};

double rowLoss(const CrossEntropyAttrs& attrs, double logSum, const float* z, std::size_t classes, std::size_t label) {
    double loss = (1 - attrs.smoothing) * (logSum - z[label]);
    if (attrs.smoothing == 0) return loss;
    for (std::size_t c = 0; c < classes; ++c) loss += attrs.smoothing / static_cast<double>(classes) * (logSum - z[c]);
    return loss;
}

}  // namespace

// Each row's loss waits in the workspace, so that the sum has one order whatever the threads.
std::unique_ptr<Kernel> makeCrossEntropy(const Order& order) {
    const auto attrs = order.node.attrs.as<CrossEntropyAttrs>();
    const LogitRows rows(order, attrs.masked);
    return kernelOf(
        [&machine = order.machine, rows, attrs](const KernelCall& call) {
            auto* losses = reinterpret_cast<double*>(call.workspace);
            rows.forEach(
                machine.threads, call,
                [&](std::size_t n, const float* z, std::size_t label) {
                    losses[n] = rowLoss(attrs, Softmax(machine, z, rows.classes).logSum(), z, rows.classes, label);
                },
                [&](std::size_t n) { losses[n] = 0; });
            const auto* labels = in<std::int32_t>(call, 1);
            double sum = 0;
            for (std::size_t n = 0; n < rows.count; ++n) sum += losses[n];
            *out<double>(call, 0) = sum;
            *out<double>(call, 1) =
                static_cast<double>(std::count_if(labels, labels + rows.count, [](auto label) { return label >= 0; }));
        },
        rows.count * sizeof(double));
}

std::unique_ptr<Kernel> makeCrossEntropyBackward(const Order& order) {
    const auto attrs = order.node.attrs.as<CrossEntropyAttrs>();
    return kernelOf([&machine = order.machine, rows = LogitRows(order, attrs.masked), attrs](const KernelCall& call) {
        const double factor = *in<double>(call, 2), rest = attrs.smoothing / static_cast<double>(rows.classes);
        rows.forEach(
            machine.threads, call,
            [&](std::size_t n, const float* z, std::size_t label) {
                const Softmax softmax(machine, z, rows.classes);
                float* dz = out(call, 0) + n * rows.classes;
                machine.simd->softmaxGradient(z, rows.classes, softmax.largest,
                                              static_cast<float>(factor / softmax.sum),
                                              static_cast<float>(factor * rest), dz);
                dz[label] -= static_cast<float>(factor * (1 - attrs.smoothing));
            },
            [&](std::size_t n) { std::fill_n(out(call, 0) + n * rows.classes, rows.classes, 0.0f); });
    });
}

std::unique_ptr<Kernel> makeTopKCount(const Order& order) {
    const auto attrs = order.node.attrs.as<TopKAttrs>();
    const LogitRows rows(order, attrs.masked);
    return kernelOf(
        [&machine = order.machine, rows, k = static_cast<std::size_t>(attrs.k)](const KernelCall& call) {
            auto* hits = reinterpret_cast<std::uint8_t*>(call.workspace);
            rows.forEach(
                machine.threads, call,
                [&](std::size_t n, const float* z, std::size_t label) {
                    hits[n] = !std::isnan(z[label]) && machine.simd->rankOf(z, rows.classes, label) < k;
                },
                [&](std::size_t n) { hits[n] = 0; });
            *out<double>(call, 0) = static_cast<double>(std::count(hits, hits + rows.count, 1));
        },
        rows.count);
}

}  // namespace lockstep::cpu
