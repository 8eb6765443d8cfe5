#include "engine/backend/cpu/simd/halves.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

// A pixel: the floats of one channel block and as many integers. Scalars obey the same expressions as vectors.
template <int kBlock>
struct Pixel;
template <>
struct Pixel<16> {
    using Float = F16;
    using Int = I16;
};
template <>
struct Pixel<8> {
    using Float = F8;
    using Int = I8;
};
template <>
struct Pixel<1> {
    using Float = float;
    using Int = std::int32_t;
};

// Of floats, or of bf16 in sixteen channels.
template <int kBlock>
[[gnu::always_inline]] inline typename Pixel<kBlock>::Float read(const float* at) {
    return get<typename Pixel<kBlock>::Float>(at);
}
template <int kBlock>
[[gnu::always_inline]] inline F16 read(const Bf16* at) {
    return load(at);
}
template <class Float>
[[gnu::always_inline]] inline void write(float* at, Float value) {
    put(at, value);
}
[[gnu::always_inline]] inline void write(Bf16* at, F16 value) { store(at, value); }

// From pixel to pixel.
template <class T, int kBlock>
[[gnu::always_inline]] inline std::int64_t stepOf(const PoolShape& s) {
    return kIsHalf<T> ? static_cast<std::int64_t>(s.step) : kBlock;
}

// The part of one window that lies inside the image: rows and columns relative to the window's corner.
struct Inside {
    std::int64_t top, left;
    int rowBegin, rowEnd, columnBegin, columnEnd;

    Inside(const PoolShape& s, std::int64_t row, std::int64_t column)
        : top(row * s.stride[0] - s.padding[0]),
          left(column * s.stride[1] - s.padding[1]),
          rowBegin(first(top)),
          rowEnd(last(top, s.window[0], s.height)),
          columnBegin(first(left)),
          columnEnd(last(left, s.window[1], s.width)) {}

    std::int64_t pixel(const PoolShape& s, int r, int c) const { return (top + r) * s.width + left + c; }
    int count() const { return (rowEnd - rowBegin) * (columnEnd - columnBegin); }

private:
    static int first(std::int64_t corner) { return corner < 0 ? static_cast<int>(-corner) : 0; }
    static int last(std::int64_t corner, int window, std::int64_t extent) {
        return corner + window > extent ? static_cast<int>(extent - corner) : window;
    }
};

template <class Visit>
[[gnu::always_inline]] inline void forEachWindow(const PoolShape& s, Visit visit) {
    for (std::int64_t row = 0; row < s.rows; ++row) {
        for (std::int64_t column = 0; column < s.columns; ++column)
            visit(row * s.columns + column, Inside(s, row, column));
    }
}

template <int kBlock, class T>
void maxPoolOf(const PoolShape& s, const T* x, T* y, std::int32_t* argmax) {
    using Float = typename Pixel<kBlock>::Float;
    using Int = typename Pixel<kBlock>::Int;
    const std::int64_t step = stepOf<T, kBlock>(s);
    forEachWindow(s, [&](std::int64_t at, const Inside& in) {
        Float best = read<kBlock>(x + in.pixel(s, in.rowBegin, in.columnBegin) * step);
        Int place = Splat<Int>::of(in.rowBegin * s.window[1] + in.columnBegin);
        for (int r = in.rowBegin; r < in.rowEnd; ++r) {
            for (int c = in.columnBegin; c < in.columnEnd; ++c) {
                const Float value = read<kBlock>(x + in.pixel(s, r, c) * step);
                // A NaN counts as larger than all numbers, so that it is not lost; the first one wins.
                const auto larger = (value > best) | ((value != value) & (best == best));
                best = select(larger, value, best);
                place = select(larger, Splat<Int>::of(r * s.window[1] + c), place);
            }
        }
        write(y + at * step, best);
        put(argmax + at * step, place);
    });
}

template <int kBlock, class T>
void zeroPlane(const PoolShape& s, T* dx) {
    const std::int64_t pixels = s.height * s.width;
    if constexpr (kIsHalf<T>) {
        for (std::int64_t i = 0; i < pixels; ++i) store(dx + i * stepOf<T, kBlock>(s), F16{});
    } else {
        for (std::int64_t i = 0; i < pixels * kBlock; ++i) dx[i] = 0;
    }
}

template <int kBlock, class T>
void maxPoolBackwardOf(const PoolShape& s, const T* dy, const std::int32_t* argmax, const T* y, T* dx) {
    using Float = typename Pixel<kBlock>::Float;
    using Int = typename Pixel<kBlock>::Int;
    const std::int64_t step = stepOf<T, kBlock>(s);
    const bool disjoint = s.stride[0] >= s.window[0] && s.stride[1] >= s.window[1];
    zeroPlane<kBlock>(s, dx);
    forEachWindow(s, [&](std::int64_t at, const Inside& in) {
        Float g = read<kBlock>(dy + at * step);
        if (y) g = select(read<kBlock>(y + at * step) > Float{}, g, Float{});
        const Int place = get<Int>(argmax + at * step);
        for (int r = in.rowBegin; r < in.rowEnd; ++r) {
            for (int c = in.columnBegin; c < in.columnEnd; ++c) {
                T* to = dx + in.pixel(s, r, c) * step;
                const Float share = select(place == Splat<Int>::of(r * s.window[1] + c), g, Float{});
                write(to, disjoint ? share : read<kBlock>(to) + share);
            }
        }
    });
}

int divisor(const PoolShape& s, const Inside& in) { return s.countPadding ? s.window[0] * s.window[1] : in.count(); }

template <int kBlock, class T>
void averagePoolOf(const PoolShape& s, const T* x, T* y) {
    using Float = typename Pixel<kBlock>::Float;
    const std::int64_t step = stepOf<T, kBlock>(s);
    forEachWindow(s, [&](std::int64_t at, const Inside& in) {
        Float sum{};
        for (int r = in.rowBegin; r < in.rowEnd; ++r) {
            for (int c = in.columnBegin; c < in.columnEnd; ++c) sum += read<kBlock>(x + in.pixel(s, r, c) * step);
        }
        write(y + at * step, sum / static_cast<float>(divisor(s, in)));
    });
}

template <int kBlock, class T>
void averagePoolBackwardOf(const PoolShape& s, const T* dy, T* dx) {
    using Float = typename Pixel<kBlock>::Float;
    const std::int64_t step = stepOf<T, kBlock>(s);
    zeroPlane<kBlock>(s, dx);
    forEachWindow(s, [&](std::int64_t at, const Inside& in) {
        const Float share = read<kBlock>(dy + at * step) / static_cast<float>(divisor(s, in));
        for (int r = in.rowBegin; r < in.rowEnd; ++r) {
            for (int c = in.columnBegin; c < in.columnEnd; ++c) {
                T* to = dx + in.pixel(s, r, c) * step;
                write(to, read<kBlock>(to) + share);
            }
        }
    });
}

}  // namespace

template <class T>
void maxPool(const PoolShape& shape, int block, const T* x, T* y, std::int32_t* argmax) {
    if constexpr (!kIsHalf<T>) {
        if (block == 8) return maxPoolOf<8>(shape, x, y, argmax);
        if (block == 1) return maxPoolOf<1>(shape, x, y, argmax);
    }
    maxPoolOf<16>(shape, x, y, argmax);
}

template <class T>
void maxPoolBackward(const PoolShape& shape, int block, const T* dy, const std::int32_t* argmax, const T* y, T* dx) {
    if constexpr (!kIsHalf<T>) {
        if (block == 8) return maxPoolBackwardOf<8>(shape, dy, argmax, y, dx);
        if (block == 1) return maxPoolBackwardOf<1>(shape, dy, argmax, y, dx);
    }
    maxPoolBackwardOf<16>(shape, dy, argmax, y, dx);
}

template <class T>
void averagePool(const PoolShape& shape, int block, const T* x, T* y) {
    if constexpr (!kIsHalf<T>) {
        if (block == 8) return averagePoolOf<8>(shape, x, y);
        if (block == 1) return averagePoolOf<1>(shape, x, y);
    }
    averagePoolOf<16>(shape, x, y);
}

template <class T>
void averagePoolBackward(const PoolShape& shape, int block, const T* dy, T* dx) {
    if constexpr (!kIsHalf<T>) {
        if (block == 8) return averagePoolBackwardOf<8>(shape, dy, dx);
        if (block == 1) return averagePoolBackwardOf<1>(shape, dy, dx);
    }
    averagePoolBackwardOf<16>(shape, dy, dx);
}

template void maxPool(const PoolShape&, int, const float*, float*, std::int32_t*);
template void maxPoolBackward(const PoolShape&, int, const float*, const std::int32_t*, const float*, float*);
template void averagePool(const PoolShape&, int, const float*, float*);
template void averagePoolBackward(const PoolShape&, int, const float*, float*);

template void maxPool(const PoolShape&, int, const Bf16*, Bf16*, std::int32_t*);
template void maxPoolBackward(const PoolShape&, int, const Bf16*, const std::int32_t*, const Bf16*, Bf16*);
template void averagePool(const PoolShape&, int, const Bf16*, Bf16*);
template void averagePoolBackward(const PoolShape&, int, const Bf16*, Bf16*);

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
