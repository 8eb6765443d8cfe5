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

// The bits of an array before and after.
struct Bits {
    U16 found{}, left{};
    std::uint32_t foundOfRest = 0, leftOfRest = 0;

    void addTo(BitSums& sums) const {
        sums.found += foundOfRest + total(found);
        sums.left += leftOfRest + total(left);
    }
    static std::uint32_t total(U16 lanes) {
        std::uint32_t lane[16], total = 0;
        put(lane, lanes);
        for (const std::uint32_t each : lane) total += each;
        return total;
    }
};

std::uint32_t bitsOf(float x) { return __builtin_bit_cast(std::uint32_t, x); }

template <bool kKeepsVelocity>
void stepSgd(Sgd sgd, const UpdateRun& run) {
    const float* const gradient = run.gradient;
    float *const w = run.w, *const velocity = run.states[0];
    Bits ofW, ofVelocity;
    std::size_t i = 0;
    for (; i + 16 <= run.count; i += 16) {
        F16 weight = load(w + i), v{};
        ofW.found += get<U16>(w + i);
        if constexpr (kKeepsVelocity) {
            v = load(velocity + i);
            ofVelocity.found += get<U16>(velocity + i);
        }
        sgd.step(load(gradient + i), weight, v);
        store(w + i, weight);
        ofW.left += get<U16>(w + i);
        if constexpr (kKeepsVelocity) {
            store(velocity + i, v);
            ofVelocity.left += get<U16>(velocity + i);
        }
    }
    for (; i < run.count; ++i) {
        float v = kKeepsVelocity ? velocity[i] : 0;
        ofW.foundOfRest += bitsOf(w[i]);
        ofVelocity.foundOfRest += bitsOf(v);
        sgd.step(gradient[i], w[i], v);
        ofW.leftOfRest += bitsOf(w[i]);
        if (!kKeepsVelocity) continue;
        velocity[i] = v;
        ofVelocity.leftOfRest += bitsOf(v);
    }
    if (!run.sums) return;
    ofW.addTo(run.sums[0]);
    if (kKeepsVelocity) ofVelocity.addTo(run.sums[1]);
}

void stepSgd(Sgd sgd, const UpdateRun& run) {
    if (run.states[0]) stepSgd<true>(sgd, run);
    else stepSgd<false>(sgd, run);
}

void updateSgd(const UpdateRun& run) {
    const UpdateRule& rule = *run.rule;
    stepSgd({narrow(run.scale), narrow(run.decay), narrow(rule.momentum), narrow(run.learningRate), rule.nesterov},
            run);
}

// The learning rate is within the momentum.
void updateLars(const UpdateRun& run) {
    stepSgd({.scale = narrow(run.learningRate * run.scale),
             .decay = narrow(run.learningRate * run.decay),
             .momentum = narrow(run.rule->momentum),
             .learningRate = 1,
             .nesterov = run.rule->nesterov},
            run);
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
    BitSums ofW, ofFirst, ofSecond;
    for (std::size_t i = 0; i < count; ++i) {
        ofW.found += bitsOf(w[i]);
        ofFirst.found += bitsOf(first[i]);
        ofSecond.found += bitsOf(second[i]);
        const float g = gradient[i] * scale;
        const float square = second[i] * by.beta2 + g * g * by.rest2;
        const float mean = first[i] * by.beta1 + g * by.rest1;
        const float direction = mean * by.correction1 / (__builtin_sqrtf(square * by.correction2) + by.epsilon);
        const float weight = w[i] - (direction + w[i] * decay) * learningRate;
        first[i] = mean;
        second[i] = square;
        w[i] = weight;
        ofW.left += bitsOf(weight);
        ofFirst.left += bitsOf(mean);
        ofSecond.left += bitsOf(square);
    }
    if (!run.sums) return;
    const BitSums all[] = {ofW, ofFirst, ofSecond};
    for (std::size_t i = 0; i < 3; ++i) {
        run.sums[i].found += all[i].found;
        run.sums[i].left += all[i].left;
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

std::uint32_t bits(const float* x, std::size_t count) {
    U16 sum{};
    std::uint32_t rest = 0;
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) sum += get<U16>(x + i);
    for (; i < count; ++i) rest += bitsOf(x[i]);
    return rest + Bits::total(sum);
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
