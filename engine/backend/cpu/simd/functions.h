#pragma once
#include "engine/backend/cpu/simd/lanes.h"

// Functions of sixteen floats, NaN where x is.
namespace lockstep::cpu::LOCKSTEP_SIMD {

// x = n ln 2 + r with |r| <= ln 2 / 2, and a polynomial for exp(r) (Cephes, expf): relative error 2e-7. Zero below
// -87.7, infinite above 88.4. Adding 1.5 * 2^23 rounds to an integer and leaves it in the lowest bits.
template <class T>
[[gnu::always_inline]] inline T expOf(T x) {
    using Bits = decltype(x < x);
    x = select(x < -88.0f, Splat<T>::of(-88.0f), x);
    x = select(x > 89.0f, Splat<T>::of(89.0f), x);
    const T shifted = x * 1.44269504f + 12582912.0f;
    const T n = shifted - 12582912.0f, r = x - n * 0.693359375f + n * 2.12194440e-4f;
    T p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    return p * (T)(((Bits)shifted + 127) << 23);
}

// The normal distribution's Phi and density: |error of Phi| < 1e-7 (Abramowitz & Stegun, 7.1.26, which has the
// exponential of the density in it).
template <class T>
struct Normal {
    T cdf, density;
};
template <class T>
[[gnu::always_inline]] inline Normal<T> normalOf(T x) {
    const T z = select(x < 0.0f, -x, x) * 0.707106781f, e = expOf(x * x * -0.5f);
    const T t = 1.0f / (z * 0.3275911f + 1.0f);
    T p = t * 1.061405429f - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    const T tail = p * t * e * 0.5f;
    return {select(x > 0.0f, 1.0f - tail, tail), e * 0.398942280f};
}

template <class T>
[[gnu::always_inline]] inline T sigmoidOf(T x) {
    return 1.0f / (expOf(-x) + 1.0f);
}

// function(x…) of native vectors, half by half.
template <class Function, class T>
[[gnu::always_inline]] inline T apply(Function function, T x) {
    return function(x);
}
template <class Function, class T>
[[gnu::always_inline]] inline T apply(Function function, T x, T y) {
    return function(x, y);
}
template <class Function, class T>
[[gnu::always_inline]] inline Pair<T> apply(Function function, Pair<T> x) {
    return {apply(function, x.low), apply(function, x.high)};
}
template <class Function, class T>
[[gnu::always_inline]] inline Pair<T> apply(Function function, Pair<T> x, Pair<T> y) {
    return {apply(function, x.low, y.low), apply(function, x.high, y.high)};
}

[[gnu::always_inline]] inline F16 exponential(F16 x) {
    return apply([](auto v) { return expOf(v); }, x);
}

// Of the last elements of a run: `fill` in the lanes behind them.
[[gnu::always_inline]] inline F16 loadRest(const float* at, std::size_t count, float fill = 0) {
    Rest rest;
    store(rest.lane, splat(fill));
    for (std::size_t i = 0; i < count; ++i) rest.lane[i] = at[i];
    return load(rest.lane);
}
[[gnu::always_inline]] inline void storeRest(float* at, F16 value, std::size_t count) {
    Rest rest;
    store(rest.lane, value);
    rest.copyTo(at, count);
}

// The sum of all lanes, half upon half.
[[gnu::always_inline]] inline float total(F4 value) { return (value[0] + value[2]) + (value[1] + value[3]); }
#ifdef __AVX2__
[[gnu::always_inline]] inline float total(F8 value) {
    return total(__builtin_shufflevector(value, value, 0, 1, 2, 3) + __builtin_shufflevector(value, value, 4, 5, 6, 7));
}
#endif
#ifdef __AVX512F__
[[gnu::always_inline]] inline float total(F16 value) {
    return total(__builtin_shufflevector(value, value, 0, 1, 2, 3, 4, 5, 6, 7) +
                 __builtin_shufflevector(value, value, 8, 9, 10, 11, 12, 13, 14, 15));
}
#endif
template <class Half>
[[gnu::always_inline]] inline float total(Pair<Half> value) {
    return total(value.low + value.high);
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
