#include "engine/backend/cpu/simd/elements.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

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

// Of native vectors: what is wider than the machine goes half by half.
template <class Function, class T>
[[gnu::always_inline]] inline void forHalves(std::size_t count, Function function, T* y, const T* x) {
    forEach(
        count, [&](F16 v) __attribute__((always_inline)) { return apply(function, v); }, y, x);
}
template <class Function, class T>
[[gnu::always_inline]] inline void forHalves(std::size_t count, Function function, T* dx, const T* x, const T* dy) {
    forEach(
        count, [&](F16 v, F16 g) __attribute__((always_inline)) { return apply(function, v, g); }, dx, x, dy);
}

template <class T>
void gelu(const T* x, T* y, std::size_t count) {
    forHalves(
        count, [](auto v) { return v * normalOf(v).cdf; }, y, x);
}

template <class T>
void geluBackward(const T* x, const T* dy, T* dx, std::size_t count) {
    forHalves(
        count, [](auto v, auto g) { return g * GeluOf<decltype(v)>(v).slope; }, dx, x, dy);
}

template <class T>
void silu(const T* x, T* y, std::size_t count) {
    forHalves(
        count, [](auto v) { return v * sigmoidOf(v); }, y, x);
}

template <class T>
void siluBackward(const T* x, const T* dy, T* dx, std::size_t count) {
    const auto backward = [](auto v, auto g) {
        const auto s = sigmoidOf(v);
        return g * s * (v * (1.0f - s) + 1.0f);
    };
    forHalves(count, backward, dx, x, dy);
}

}  // namespace

template <class T>
void activation(ActivationKind kind, const T* x, T* y, std::size_t count) {
    switch (kind) {
        case ActivationKind::Gelu: return gelu(x, y, count);
        case ActivationKind::Silu: return silu(x, y, count);
    }
}

template <class T>
void activationBackward(ActivationKind kind, const T* x, const T* dy, T* dx, std::size_t count) {
    switch (kind) {
        case ActivationKind::Gelu: return geluBackward(x, dy, dx, count);
        case ActivationKind::Silu: return siluBackward(x, dy, dx, count);
    }
}

template <class T>
void geluAndSlope(T* x, T* y, std::size_t count) {
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

template void activation(ActivationKind, const float*, float*, std::size_t);
template void activationBackward(ActivationKind, const float*, const float*, float*, std::size_t);
template void geluAndSlope(float*, float*, std::size_t);

template void activation(ActivationKind, const Bf16*, Bf16*, std::size_t);
template void activationBackward(ActivationKind, const Bf16*, const Bf16*, Bf16*, std::size_t);
template void geluAndSlope(Bf16*, Bf16*, std::size_t);

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
