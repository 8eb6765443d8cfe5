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

template <class T>
[[gnu::always_inline]] inline void stepSgd(const SgdRun& run, T g, T& w, T& v) {
    g = g * run.scale + w * run.decay;
    v = v * run.momentum + g;
    w -= (run.nesterov ? g + v * run.momentum : v) * run.learningRate;
}

}  // namespace

void sgd(const SgdRun& run, const float* gradient, float* w, float* velocity, std::size_t count) {
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        F16 weight = load(w + i), v = velocity ? load(velocity + i) : F16{};
        stepSgd(run, load(gradient + i), weight, v);
        store(w + i, weight);
        if (velocity) store(velocity + i, v);
    }
    for (; i < count; ++i) {
        float v = velocity ? velocity[i] : 0;
        stepSgd(run, gradient[i], w[i], v);
        if (velocity) velocity[i] = v;
    }
}

void adamW(const AdamRun& run, const float* gradient, float* w, float* first, float* second, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const float g = gradient[i] * run.scale;
        const float square = second[i] * run.beta2 + g * g * run.rest2;
        const float mean = first[i] * run.beta1 + g * run.rest1;
        const float direction = mean * run.correction1 / (__builtin_sqrtf(square * run.correction2) + run.epsilon);
        first[i] = mean;
        second[i] = square;
        w[i] -= (direction + w[i] * run.decay) * run.learningRate;
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
