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

template <class T>
struct GeluOf {
    [[gnu::always_inline]] explicit GeluOf(T x) {
        const Normal<T> normal = normalOf(x);
        value = x * normal.cdf;
        slope = normal.cdf + x * normal.density;
    }
    T value, slope;
};
template <class T>
struct GeluOf<Pair<T>> {
    [[gnu::always_inline]] explicit GeluOf(Pair<T> x) {
        const GeluOf<T> low(x.low), high(x.high);
        value = {low.value, high.value};
        slope = {low.slope, high.slope};
    }
    Pair<T> value, slope;
};

void gelu(const float* x, float* y, std::size_t count) {
    forEach(x, y, count, [](auto v) { return v * normalOf(v).cdf; });
}

void geluBackward(const float* x, const float* dy, float* dx, std::size_t count) {
    forEach(x, dy, dx, count, [](auto v, auto g) { return g * GeluOf<decltype(v)>(v).slope; });
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

}  // namespace

void activation(ActivationKind kind, const float* x, float* y, std::size_t count) {
    switch (kind) {
        case ActivationKind::Gelu: return gelu(x, y, count);
        case ActivationKind::Silu: return silu(x, y, count);
    }
}

void activationBackward(ActivationKind kind, const float* x, const float* dy, float* dx, std::size_t count) {
    switch (kind) {
        case ActivationKind::Gelu: return geluBackward(x, dy, dx, count);
        case ActivationKind::Silu: return siluBackward(x, dy, dx, count);
    }
}

void geluAndSlope(float* x, float* y, std::size_t count) {
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const GeluOf<F16> of(load(x + i));
        store(y + i, of.value);
        store(x + i, of.slope);
    }
    if (i == count) return;
    const GeluOf<F16> of(loadRest(x + i, count - i));
    storeRest(y + i, of.value, count - i);
    storeRest(x + i, of.slope, count - i);
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
