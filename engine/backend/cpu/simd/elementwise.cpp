#include "engine/backend/cpu/simd/halves.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

template <class T>
void relu(const T* x, T* y, std::size_t count) {
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) store(y + i, positive(load(x + i)));
    if constexpr (!kIsHalf<T>) {
        for (; i < count; ++i) y[i] = x[i] < 0 ? 0 : x[i];
    }
}

template <class T>
void reluBackward(const T* y, const T* dy, T* dx, std::size_t count) {
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) store(dx + i, select(load(y + i) > F16{}, load(dy + i), F16{}));
    if constexpr (!kIsHalf<T>) {
        for (; i < count; ++i) dx[i] = y[i] > 0 ? dy[i] : 0;
    }
}

template <class T>
void relu6(const T* x, T* y, std::size_t count) {
    const F16 six = splat(6);
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const F16 value = positive(load(x + i));
        store(y + i, select(value > six, six, value));
    }
    if constexpr (!kIsHalf<T>) {
        for (; i < count; ++i) y[i] = x[i] < 0 ? 0 : x[i] > 6 ? 6 : x[i];
    }
}

template <class T>
void relu6Backward(const T* y, const T* dy, T* dx, std::size_t count) {
    const F16 six = splat(6);
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const F16 value = load(y + i);
        store(dx + i, select((value > F16{}) & (value < six), load(dy + i), F16{}));
    }
    if constexpr (!kIsHalf<T>) {
        for (; i < count; ++i) dx[i] = y[i] > 0 && y[i] < 6 ? dy[i] : 0;
    }
}

template <class T>
void add(const T* a, const T* b, T* y, std::size_t count) {
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) store(y + i, load(a + i) + load(b + i));
    if constexpr (!kIsHalf<T>) {
        for (; i < count; ++i) y[i] = a[i] + b[i];
    }
}

void multiply(const float* a, const float* b, float* y, std::size_t count) {
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) store(y + i, load(a + i) * load(b + i));
    for (; i < count; ++i) y[i] = a[i] * b[i];
}

void scale(const float* x, float factor, float* y, std::size_t count) {
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) store(y + i, load(x + i) * factor);
    for (; i < count; ++i) y[i] = x[i] * factor;
}

void addRow(float* y, const float* row, std::size_t count) { add(y, row, y, count); }

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
        } else {
            for (; i < width; ++i) to[i] = from[i];
        }
    }
}

template void relu(const float*, float*, std::size_t);
template void reluBackward(const float*, const float*, float*, std::size_t);
template void relu6(const float*, float*, std::size_t);
template void relu6Backward(const float*, const float*, float*, std::size_t);
template void add(const float*, const float*, float*, std::size_t);

template void relu(const Bf16*, Bf16*, std::size_t);
template void reluBackward(const Bf16*, const Bf16*, Bf16*, std::size_t);
template void relu6(const Bf16*, Bf16*, std::size_t);
template void relu6Backward(const Bf16*, const Bf16*, Bf16*, std::size_t);
template void add(const Bf16*, const Bf16*, Bf16*, std::size_t);

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
