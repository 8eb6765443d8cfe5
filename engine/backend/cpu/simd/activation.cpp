#include "engine/backend/cpu/simd/functions.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

template <class Function>
[[gnu::always_inline]] inline void forEach(const float* x, float* y, std::size_t count, Function function) {
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) store(y + i, apply(function, load(x + i)));
    if (i < count) storeRest(y + i, apply(function, loadRest(x + i, count - i)), count - i);
}

template <class Function>
[[gnu::always_inline]] inline void forEach(const float* x, const float* dy, float* dx, std::size_t count,
                                           Function function) {
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) store(dx + i, apply(function, load(x + i), load(dy + i)));
    const std::size_t left = count - i;
    if (left > 0) storeRest(dx + i, apply(function, loadRest(x + i, left), loadRest(dy + i, left)), left);
}

}  // namespace

void gelu(const float* x, float* y, std::size_t count) {
    forEach(x, y, count, [](auto v) { return v * normalOf(v).cdf; });
}

void geluBackward(const float* x, const float* dy, float* dx, std::size_t count) {
    forEach(x, dy, dx, count, [](auto v, auto g) {
        const auto normal = normalOf(v);
        return g * (normal.cdf + v * normal.density);
    });
}

void silu(const float* x, float* y, std::size_t count) {
    forEach(x, y, count, [](auto v) { return v * sigmoidOf(v); });
}

void siluBackward(const float* x, const float* dy, float* dx, std::size_t count) {
    forEach(x, dy, dx, count, [](auto v, auto g) {
        const auto s = sigmoidOf(v);
        return g * s * (v * (1.0f - s) + 1.0f);
    });
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
