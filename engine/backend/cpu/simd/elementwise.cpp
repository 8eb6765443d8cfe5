#include "engine/backend/cpu/simd/elements.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

template <class T>
void relu(const T* x, T* y, std::size_t count) {
    forEach(
        count, [](F16 v) __attribute__((always_inline)) { return positive(v); }, y, x);
}

template <class T>
void reluBackward(const T* y, const T* dy, T* dx, std::size_t count) {
    forEach(
        count, [](F16 v, F16 g) __attribute__((always_inline)) { return select(v > F16{}, g, F16{}); }, dx, y, dy);
}

template <class T>
void relu6(const T* x, T* y, std::size_t count) {
    const F16 six = splat(6);
    const auto limited = [six](F16 v) __attribute__((always_inline)) {
        const F16 value = positive(v);
        return select(value > six, six, value);
    };
    forEach(count, limited, y, x);
}

template <class T>
void relu6Backward(const T* y, const T* dy, T* dx, std::size_t count) {
    const F16 six = splat(6);
    const auto between = [six](F16 v, F16 g) __attribute__((always_inline)) {
        return select((v > F16{}) & (v < six), g, F16{});
    };
    forEach(count, between, dx, y, dy);
}

template <class T>
void add(const T* a, const T* b, T* y, std::size_t count) {
    forEach(
        count, [](F16 v, F16 w) __attribute__((always_inline)) { return v + w; }, y, a, b);
}

template <class T>
void multiply(const T* a, const T* b, T* y, std::size_t count) {
    forEach(
        count, [](F16 v, F16 w) __attribute__((always_inline)) { return v * w; }, y, a, b);
}

template <class T>
void scale(const float* x, float factor, T* y, std::size_t count) {
    forEach(
        count, [factor](F16 v) __attribute__((always_inline)) { return v * factor; }, y, x);
}

template <class T>
void addRow(float* y, const T* row, std::size_t count) {
    forEach(
        count, [](F16 v, F16 w) __attribute__((always_inline)) { return v + w; }, y, y, row);
}

// Short rows: whole vectors, and the last one over what is there already.
void copyRows(const float* from, std::size_t fromStride, std::size_t width, float* to, std::size_t toStride,
              std::size_t rows) {
    for (; rows > 0; --rows, from += fromStride, to += toStride) {
        std::size_t i = 0;
        for (; i + 16 <= width; i += 16) store(to + i, load(from + i));
        if (i == width) continue;
        if (width >= 16) {
            store(to + width - 16, load(from + width - 16));
        } else if (width >= 8) {
            put(to, get<F8>(from));
            put(to + width - 8, get<F8>(from + width - 8));
        } else if (width >= 4) {
            put(to, get<F4>(from));
            put(to + width - 4, get<F4>(from + width - 4));
        } else {
            for (; i < width; ++i) to[i] = from[i];
        }
    }
}

void interleave(const Bf16* even, const Bf16* odd, float* pairs, std::size_t count) {
    const auto pair = [](auto low, auto high) __attribute__((always_inline)) {
        using Bits = decltype(low < high);
        return (decltype(low))(((Bits)low >> 16 & 0xffff) | (Bits)high);
    };
    for (std::size_t i = 0; i < count; i += 16) store(pairs + i, apply(pair, load(even + i), load(odd + i)));
}

void interleaveRows(const PairedRows& given) {
    const PairedRows rows = given;
    constexpr std::size_t kPanel = 32;
    for (std::size_t n = 0; n < rows.count; ++n) {
        const Bf16 *even = rows.even + n * rows.stride, *odd = rows.odd + n * rows.stride;
        float* to = rows.to + n * rows.rowStride;
        for (std::size_t i = 0; i < rows.columns; i += kPanel, to += rows.panelStride)
            interleave(even + i, odd + i, to, kPanel);
    }
}

template void relu(const float*, float*, std::size_t);
template void reluBackward(const float*, const float*, float*, std::size_t);
template void relu6(const float*, float*, std::size_t);
template void relu6Backward(const float*, const float*, float*, std::size_t);
template void add(const float*, const float*, float*, std::size_t);
template void multiply(const float*, const float*, float*, std::size_t);
template void scale(const float*, float, float*, std::size_t);
template void addRow(float*, const float*, std::size_t);

template void relu(const Bf16*, Bf16*, std::size_t);
template void reluBackward(const Bf16*, const Bf16*, Bf16*, std::size_t);
template void relu6(const Bf16*, Bf16*, std::size_t);
template void relu6Backward(const Bf16*, const Bf16*, Bf16*, std::size_t);
template void add(const Bf16*, const Bf16*, Bf16*, std::size_t);
template void multiply(const Bf16*, const Bf16*, Bf16*, std::size_t);
template void scale(const float*, float, Bf16*, std::size_t);
template void addRow(float*, const Bf16*, std::size_t);

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
