#include "engine/backend/cpu/simd/lanes.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

double squareSum(const float* x, std::size_t count) {
    constexpr std::size_t kLanes = 16;
    double sums[kLanes] = {};
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const double value = x[i + lane];
            sums[lane] += value * value;
        }
    }
    double total = 0;
    for (; i < count; ++i) total += static_cast<double>(x[i]) * x[i];
    for (const double sum : sums) total += sum;
    return total;
}

namespace {

float narrow(double value) { return static_cast<float>(value); }

// Of a rule, what the loop over elements needs, in its precision.
struct Sgd {
    float scale, decay, momentum, learningRate;
    bool nesterov;

    template <class T>
    [[gnu::always_inline]] inline void step(T g, T& w, T& v) const {
        g = g * scale + w * decay;
        v = v * momentum + g;
        w -= (nesterov ? g + v * momentum : v) * learningRate;
    }
};

void stepSgd(Sgd sgd, const float* gradient, float* w, float* velocity, std::size_t count) {
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        F16 weight = load(w + i), v = velocity ? load(velocity + i) : F16{};
        sgd.step(load(gradient + i), weight, v);
        store(w + i, weight);
        if (velocity) store(velocity + i, v);
    }
    for (; i < count; ++i) {
        float v = velocity ? velocity[i] : 0;
        sgd.step(gradient[i], w[i], v);
        if (velocity) velocity[i] = v;
    }
}

void updateSgd(const UpdateRun& run) {
    const UpdateRule& rule = *run.rule;
    stepSgd({narrow(run.scale), narrow(run.decay), narrow(rule.momentum), narrow(run.learningRate), rule.nesterov},
            run.gradient, run.w, run.states[0], run.count);
}

// The learning rate is within the momentum.
void updateLars(const UpdateRun& run) {
    stepSgd({.scale = narrow(run.learningRate * run.scale),
             .decay = narrow(run.learningRate * run.decay),
             .momentum = narrow(run.rule->momentum),
             .learningRate = 1,
             .nesterov = run.rule->nesterov},
            run.gradient, run.w, run.states[0], run.count);
}

// rest: 1 - beta, which single precision would not get from beta; correction: 1 / (1 - beta^t).
struct Adam {
    Adam(const UpdateRule& rule, std::int64_t number)
        : beta1(narrow(rule.beta1)),
          beta2(narrow(rule.beta2)),
          rest1(narrow(1 - rule.beta1)),
          rest2(narrow(1 - rule.beta2)),
          epsilon(narrow(rule.epsilon)),
          correction1(narrow(1 / (1 - __builtin_pow(rule.beta1, static_cast<double>(number))))),
          correction2(narrow(1 / (1 - __builtin_pow(rule.beta2, static_cast<double>(number))))) {}

    float beta1, beta2, rest1, rest2, epsilon, correction1, correction2;
};

void updateAdamW(const UpdateRun& run) {
    const Adam by(*run.rule, run.number);
    const float scale = narrow(run.scale), decay = narrow(run.decay), learningRate = narrow(run.learningRate);
    const float* const gradient = run.gradient;
    float *const w = run.w, *const first = run.states[0], *const second = run.states[1];
    const std::size_t count = run.count;
    for (std::size_t i = 0; i < count; ++i) {
        const float g = gradient[i] * scale;
        const float square = second[i] * by.beta2 + g * g * by.rest2;
        const float mean = first[i] * by.beta1 + g * by.rest1;
        const float direction = mean * by.correction1 / (__builtin_sqrtf(square * by.correction2) + by.epsilon);
        first[i] = mean;
        second[i] = square;
        w[i] -= (direction + w[i] * decay) * learningRate;
    }
}

}  // namespace

void update(const UpdateRun& run) {
    switch (run.rule->kind) {
        case UpdateRule::Kind::Sgd: return updateSgd(run);
        case UpdateRule::Kind::Lars: return updateLars(run);
        case UpdateRule::Kind::AdamW:
        case UpdateRule::Kind::Muon: return updateAdamW(run);
    }
}

void average(const float* w, float rest, float* averages, std::size_t count) {
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const F16 before = load(averages + i);
        store(averages + i, before + (load(w + i) - before) * rest);
    }
    for (; i < count; ++i) averages[i] += (w[i] - averages[i]) * rest;
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
