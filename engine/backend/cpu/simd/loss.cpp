#include "engine/backend/cpu/simd/functions.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

constexpr float kInfinity = __builtin_inff();

float largestOf(const float* z, std::size_t count) {
    F16 largest = splat(-kInfinity);
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const F16 logit = load(z + i);
        largest = select(logit > largest, logit, largest);
    }
    Rest rest;
    store(rest.lane, largest);
    float result = -kInfinity;
    for (const float lane : rest.lane) result = lane > result ? lane : result;
    for (; i < count; ++i) result = z[i] > result ? z[i] : result;
    return result;
}

// How many of z are less than the bar, or also those equal to it.
std::size_t below(const float* z, std::size_t count, float bar, bool orEqual) {
    const F16 bars = splat(bar);
    I16 found{};
    std::size_t i = 0, result = 0;
    for (; i + 16 <= count; i += 16) {
        const F16 logit = load(z + i);
        found -= orEqual ? (logit < bars) | (logit == bars) : logit < bars;
    }
    std::int32_t lanes[16];
    put(lanes, found);
    for (const std::int32_t lane : lanes) result += static_cast<std::size_t>(lane);
    for (; i < count; ++i) result += z[i] < bar || (orEqual && z[i] == bar);
    return result;
}

// Optimizers that orthogonalise enlarge what a loss is off by: not in floats.
float totalInDouble(F16 value) {
    Rest rest;
    store(rest.lane, value);
    double sum = 0;
    for (const float lane : rest.lane) sum += lane;
    return static_cast<float>(sum);
}

}  // namespace

void softmaxSums(const float* z, std::size_t count, float* largest, float* sum) {
    *largest = largestOf(z, count);
    const F16 shift = splat(*largest);
    F16 sums{};
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) sums += exponential(load(z + i) - shift);
    if (i < count) sums += exponential(loadRest(z + i, count - i, -kInfinity) - shift);
    *sum = totalInDouble(sums);
}

void softmaxGradient(const float* z, std::size_t count, float largest, float factor, float offset, float* dz) {
    const F16 shift = splat(largest), minus = splat(offset);
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) store(dz + i, exponential(load(z + i) - shift) * factor - minus);
    if (i < count) storeRest(dz + i, exponential(loadRest(z + i, count - i) - shift) * factor - minus, count - i);
}

std::size_t rankOf(const float* z, std::size_t count, std::size_t at) {
    const std::size_t behind = count - at - 1;
    return at - below(z, at, z[at], false) + behind - below(z + at + 1, behind, z[at], true);
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
