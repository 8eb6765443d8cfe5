#include "engine/ops/update.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"

namespace lockstep::reference {

std::unique_ptr<Kernel> makeFill(std::size_t count, double value) {
    return loops([=](const KernelCall& call) { std::fill_n(output(call, 0), count, value); });
}

std::unique_ptr<Kernel> makeScale(std::size_t count, double factor) {
    return loops([=](const KernelCall& call) {
        const double* from = input(call, 0);
        double* to = output(call, 0);
        for (std::size_t i = 0; i < count; ++i) to[i] = from[i] * factor;
    });
}

std::unique_ptr<Kernel> makeFlatAdd(std::size_t count) {
    return loops([=](const KernelCall& call) {
        const double* from = input(call, 0);
        double* to = output(call, 0);
        for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
    });
}

std::unique_ptr<Kernel> makeSquareSum(std::size_t count) {
    return loops([=](const KernelCall& call) {
        const double* slice = input(call, 0);
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i) sum += slice[i] * slice[i];
        *output(call, 0) = sum;
    });
}

std::unique_ptr<Kernel> makeGate(const UpdateRule& rule, std::size_t squareSums) {
    return loops([clipNorm = rule.clipNorm, squareSums](const KernelCall& call) {
        double squares = 0;
        for (std::size_t i = 0; i < squareSums; ++i) squares += *input(call, 3 + i);
        const ReducedSums sums{*input(call, 0), *input(call, 1), *input(call, 2), std::sqrt(squares)};
        *output<UpdateGate>(call, 0) = decideGate(sums, clipNorm);
    });
}

namespace {

// One element's step; v is null without momentum.
void stepSgd(const UpdateRule& rule, double learningRate, double decay, double g, double& w, double* v) {
    g += decay * w;
    if (v != nullptr) *v = rule.momentum * *v + g;
    const double direction = v == nullptr ? g : rule.nesterov ? g + rule.momentum * *v : *v;
    w -= learningRate * direction;
}

struct AdamCorrections {
    double first = 1, second = 1;  // 1 - beta^t for update number t
};

void stepAdamW(const UpdateRule& rule, double learningRate, double decay, const AdamCorrections& corrections, double g,
               double& w, double& m, double& v) {
    m = rule.beta1 * m + (1 - rule.beta1) * g;
    v = rule.beta2 * v + (1 - rule.beta2) * g * g;
    const double direction = m / corrections.first / (std::sqrt(v / corrections.second) + rule.epsilon);
    w -= learningRate * (direction + decay * w);
}

}  // namespace

std::unique_ptr<Kernel> makeUpdate(const UpdateRule& rule, std::span<const UpdateSegment> given) {
    return loops([rule, segments = std::vector(given.begin(), given.end())](const KernelCall& call) {
        const double* gradient = input(call, 0);
        const UpdateGate& gate = *input<UpdateGate>(call, 1);
        if (gate.skip != 0) return;
        double* w = output(call, 0);
        double* state0 = call.outputs.size() > 1 ? output(call, 1) : nullptr;
        double* state1 = call.outputs.size() > 2 ? output(call, 2) : nullptr;
        const double learningRate = call.scalars->learningRate, number = static_cast<double>(call.scalars->step + 1);
        const AdamCorrections corrections{1 - std::pow(rule.beta1, number), 1 - std::pow(rule.beta2, number)};
        for (const UpdateSegment& segment : segments) {
            const double decay = segment.decays ? rule.weightDecay : 0;
            for (std::size_t i = segment.offset; i < segment.offset + segment.count; ++i) {
                const double g = gradient[i] * gate.scale;
                if (rule.kind == UpdateRule::Kind::Sgd)
                    stepSgd(rule, learningRate, decay, g, w[i], state0 ? state0 + i : nullptr);
                else
                    stepAdamW(rule, learningRate, decay, corrections, g, w[i], state0[i], state1[i]);
            }
        }
    });
}

std::unique_ptr<Kernel> makeAverage(double decay, std::size_t count) {
    return loops([=](const KernelCall& call) {
        const double* w = input(call, 0);
        if (input<UpdateGate>(call, 1)->skip != 0) return;
        double* average = output(call, 0);
        const double rest = 1 - averageDecayAt(decay, call.scalars->step);
        for (std::size_t i = 0; i < count; ++i) average[i] += rest * (w[i] - average[i]);
    });
}

std::unique_ptr<Kernel> makeCommit(std::size_t count) {
    return loops([=](const KernelCall& call) {
        const double* staged = input(call, 0);
        const UpdateGate& gate = *input<UpdateGate>(call, 1);
        if (gate.skip != 0) return;
        double* buffer = output(call, 0);
        for (std::size_t i = 0; i < count; ++i) buffer[i] = staged[i] * gate.bufferScale;
    });
}

}  // namespace lockstep::reference
