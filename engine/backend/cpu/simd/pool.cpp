#include "engine/backend/cpu/simd/lanes.h"
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

template <int kBlock>
void maxPoolOf(const PoolShape& s, const float* x, float* y, std::int32_t* argmax) {
    using Float = typename Pixel<kBlock>::Float;
    using Int = typename Pixel<kBlock>::Int;
    forEachWindow(s, [&](std::int64_t at, const Inside& in) {
        Float best = get<Float>(x + in.pixel(s, in.rowBegin, in.columnBegin) * kBlock);
        Int place = Splat<Int>::of(in.rowBegin * s.window[1] + in.columnBegin);
        for (int r = in.rowBegin; r < in.rowEnd; ++r) {
            for (int c = in.columnBegin; c < in.columnEnd; ++c) {
                const Float value = get<Float>(x + in.pixel(s, r, c) * kBlock);
                // A NaN counts as larger than all numbers, so that it is not lost; the first one wins.
                const auto larger = (value > best) | ((value != value) & (best == best));
                best = select(larger, value, best);
                place = select(larger, Splat<Int>::of(r * s.window[1] + c), place);
            }
        }
        put(y + at * kBlock, best);
        put(argmax + at * kBlock, place);
    });
}

template <int kBlock>
void zeroPlane(const PoolShape& s, float* dx) {
    const std::int64_t count = s.height * s.width * kBlock;
    for (std::int64_t i = 0; i < count; ++i) dx[i] = 0;
}

template <int kBlock>
void maxPoolBackwardOf(const PoolShape& s, const float* dy, const std::int32_t* argmax, const float* y, float* dx) {
    using Float = typename Pixel<kBlock>::Float;
    using Int = typename Pixel<kBlock>::Int;
    const bool disjoint = s.stride[0] >= s.window[0] && s.stride[1] >= s.window[1];
    zeroPlane<kBlock>(s, dx);
    forEachWindow(s, [&](std::int64_t at, const Inside& in) {
        Float g = get<Float>(dy + at * kBlock);
        if (y) g = select(get<Float>(y + at * kBlock) > Float{}, g, Float{});
        const Int place = get<Int>(argmax + at * kBlock);
        for (int r = in.rowBegin; r < in.rowEnd; ++r) {
            for (int c = in.columnBegin; c < in.columnEnd; ++c) {
                float* to = dx + in.pixel(s, r, c) * kBlock;
                const Float share = select(place == Splat<Int>::of(r * s.window[1] + c), g, Float{});
                put(to, disjoint ? share : get<Float>(to) + share);
            }
        }
    });
}

int divisor(const PoolShape& s, const Inside& in) { return s.countPadding ? s.window[0] * s.window[1] : in.count(); }

template <int kBlock>
void averagePoolOf(const PoolShape& s, const float* x, float* y) {
    using Float = typename Pixel<kBlock>::Float;
    forEachWindow(s, [&](std::int64_t at, const Inside& in) {
        Float sum{};
        for (int r = in.rowBegin; r < in.rowEnd; ++r) {
            for (int c = in.columnBegin; c < in.columnEnd; ++c) sum += get<Float>(x + in.pixel(s, r, c) * kBlock);
        }
        put(y + at * kBlock, sum / static_cast<float>(divisor(s, in)));
    });
}

template <int kBlock>
void averagePoolBackwardOf(const PoolShape& s, const float* dy, float* dx) {
    using Float = typename Pixel<kBlock>::Float;
    zeroPlane<kBlock>(s, dx);
    forEachWindow(s, [&](std::int64_t at, const Inside& in) {
        const Float share = get<Float>(dy + at * kBlock) / static_cast<float>(divisor(s, in));
        for (int r = in.rowBegin; r < in.rowEnd; ++r) {
            for (int c = in.columnBegin; c < in.columnEnd; ++c) {
                float* to = dx + in.pixel(s, r, c) * kBlock;
                put(to, get<Float>(to) + share);
            }
        }
    });
}

}  // namespace

void maxPool(const PoolShape& shape, int block, const float* x, float* y, std::int32_t* argmax) {
    if (block == 16) return maxPoolOf<16>(shape, x, y, argmax);
    return block == 8 ? maxPoolOf<8>(shape, x, y, argmax) : maxPoolOf<1>(shape, x, y, argmax);
}

void maxPoolBackward(const PoolShape& shape, int block, const float* dy, const std::int32_t* argmax, const float* y,
                     float* dx) {
    if (block == 16) return maxPoolBackwardOf<16>(shape, dy, argmax, y, dx);
    return block == 8 ? maxPoolBackwardOf<8>(shape, dy, argmax, y, dx) : maxPoolBackwardOf<1>(shape, dy, argmax, y, dx);
}

void averagePool(const PoolShape& shape, int block, const float* x, float* y) {
    if (block == 16) return averagePoolOf<16>(shape, x, y);
    return block == 8 ? averagePoolOf<8>(shape, x, y) : averagePoolOf<1>(shape, x, y);
}

void averagePoolBackward(const PoolShape& shape, int block, const float* dy, float* dx) {
    if (block == 16) return averagePoolBackwardOf<16>(shape, dy, dx);
    return block == 8 ? averagePoolBackwardOf<8>(shape, dy, dx) : averagePoolBackwardOf<1>(shape, dy, dx);
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
