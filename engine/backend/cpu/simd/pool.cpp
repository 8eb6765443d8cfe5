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

// visit(elements before them in their pixel) for each group of channels that lie side by side.
template <class Visit>
[[gnu::always_inline]] inline void forEachGroup(const PoolShape& s, Visit visit) {
    for (std::int64_t group = 0; group < static_cast<std::int64_t>(s.groups); ++group) visit(group * 16);
}

// The largest of each window, the first of equal ones. Where all numbers are finite a comparison decides; a NaN counts
// as larger than all numbers, so that it is not lost.
template <int kBlock, bool kPlaces, bool kFinite, class T>
typename Pixel<kBlock>::Float maxPoolOf(const PoolShape& s, const T* x, T* y, std::int32_t* argmax) {
    using Float = typename Pixel<kBlock>::Float;
    using Int = typename Pixel<kBlock>::Int;
    const std::int64_t step = stepOf<T, kBlock>(s);
    const Int one = Splat<Int>::of(1);
    Float zero{};  // NaN as soon as a number is not finite
    const auto window = [&](std::int64_t at, const Inside& in, std::int64_t group) __attribute__((always_inline)) {
        const T* row = x + in.pixel(s, in.rowBegin, in.columnBegin) * step + group;
        Float best = read<kBlock>(row);
        Int place = Splat<Int>::of(in.rowBegin * s.window[1] + in.columnBegin), tap = place;
        for (int r = in.rowBegin; r < in.rowEnd; ++r, row += s.width * step) {
            const T* from = row;
            for (int c = in.columnBegin; c < in.columnEnd; ++c, from += step, tap = tap + one) {
                const Float value = read<kBlock>(from);
                auto larger = value > best;
                if constexpr (kFinite) zero = zero + value * Splat<Float>::of(0.0f);
                else larger = larger | ((value != value) & (best == best));
                best = select(larger, value, best);
                if constexpr (kPlaces) place = select(larger, tap, place);
            }
            tap = tap + Splat<Int>::of(s.window[1] - (in.columnEnd - in.columnBegin));
        }
        write(y + at * step + group, best);
        if constexpr (kPlaces) put(argmax + at * step + group, place);
    };
    forEachWindow(s, [&](std::int64_t at, const Inside& in) {
        forEachGroup(s, [&](std::int64_t group) { window(at, in, group); });
    });
    return zero;
}

template <int kBlock, bool kPlaces, class T>
void maxPoolOf(const PoolShape& s, const T* x, T* y, std::int32_t* argmax) {
    const auto zero = maxPoolOf<kBlock, kPlaces, true>(s, x, y, argmax);
    float lanes[kBlock];
    put(lanes, zero);
    for (const float lane : lanes) {
        if (lane != 0) return void(maxPoolOf<kBlock, kPlaces, false>(s, x, y, argmax));
    }
}

template <int kBlock, class T>
void zeroPlane(const PoolShape& s, T* dx) {
    const std::int64_t pixels = s.height * s.width;
    if constexpr (kIsHalf<T>) {
        for (std::int64_t i = 0; i < pixels; ++i)
            forEachGroup(s, [&](std::int64_t group) { store(dx + i * stepOf<T, kBlock>(s) + group, F16{}); });
    } else {
        for (std::int64_t i = 0; i < pixels * kBlock; ++i) dx[i] = 0;
    }
}

// Along one axis, the windows in which a pixel lies: first the first pixel, then the next ones.
class Windows {
public:
    Windows(const PoolShape& s, std::size_t axis, std::int64_t count)
        : m_window(s.window[axis]), m_stride(s.stride[axis]), m_pixel(s.padding[axis]), m_count(count) {
        settle();
    }
    std::int64_t begin() const { return m_begin; }
    std::int64_t end() const { return m_end; }
    std::int64_t within(std::int64_t window) const { return m_pixel - window * m_stride; }  // its place in that window
    void next() {
        ++m_pixel;
        settle();
    }

private:
    void settle() {
        while (m_begin * m_stride + m_window <= m_pixel) ++m_begin;
        while (m_end < m_count && m_end * m_stride <= m_pixel) ++m_end;
    }

    std::int64_t m_window, m_stride, m_pixel, m_count, m_begin = 0, m_end = 0;
};

// Of bf16 and windows that overlap: each pixel adds up, in floats, what those bring whose largest it is.
template <bool kRelu>
void maxPoolBackwardOverlapping(const PoolShape& s, const Bf16* dy, const std::int32_t* argmax, const Bf16* y,
                                Bf16* dx) {
    const auto step = static_cast<std::int64_t>(s.step);
    const auto share = [&](std::int64_t at, std::int64_t tap) __attribute__((always_inline)) {
        auto isHere = get<I16>(argmax + at) == Splat<I16>::of(static_cast<std::int32_t>(tap));
        if constexpr (kRelu) isHere = isHere & (load(y + at) > F16{});
        return select(isHere, load(dy + at), F16{});
    };
    Windows rows(s, 0, s.rows);
    for (std::int64_t row = 0; row < s.height; ++row, rows.next()) {
        Windows columns(s, 1, s.columns);
        for (std::int64_t column = 0; column < s.width; ++column, columns.next(), dx += step) {
            forEachGroup(s, [&](std::int64_t group) {
                F16 sum{};
                for (std::int64_t i = rows.begin(); i < rows.end(); ++i) {
                    const std::int64_t first = i * s.columns * step + group, tap = rows.within(i) * s.window[1];
                    for (std::int64_t j = columns.begin(); j < columns.end(); ++j)
                        sum = sum + share(first + j * step, tap + columns.within(j));
                }
                store(dx + group, sum);
            });
        }
    }
}

template <int kBlock, bool kRelu, class T>
void maxPoolBackwardOf(const PoolShape& s, const T* dy, const std::int32_t* argmax, const T* y, T* dx) {
    using Float = typename Pixel<kBlock>::Float;
    using Int = typename Pixel<kBlock>::Int;
    const std::int64_t step = stepOf<T, kBlock>(s);
    const Int one = Splat<Int>::of(1);
    const bool areApart = s.stride[0] >= s.window[0] && s.stride[1] >= s.window[1];
    if constexpr (kIsHalf<T>) {
        if (!areApart) return maxPoolBackwardOverlapping<kRelu>(s, dy, argmax, y, dx);
    }
    const bool areAllWritten = s.stride == s.window && s.rows * s.stride[0] >= s.height + s.padding[0] &&
                               s.columns * s.stride[1] >= s.width + s.padding[1];
    if (!areAllWritten) zeroPlane<kBlock>(s, dx);
    const auto window = [&](std::int64_t at, const Inside& in, std::int64_t group) __attribute__((always_inline)) {
        Float g = read<kBlock>(dy + at * step + group);
        if constexpr (kRelu) g = select(read<kBlock>(y + at * step + group) > Float{}, g, Float{});
        const Int place = get<Int>(argmax + at * step + group);
        Int tap = Splat<Int>::of(in.rowBegin * s.window[1] + in.columnBegin);
        T* row = dx + in.pixel(s, in.rowBegin, in.columnBegin) * step + group;
        for (int r = in.rowBegin; r < in.rowEnd; ++r, row += s.width * step) {
            T* to = row;
            for (int c = in.columnBegin; c < in.columnEnd; ++c, to += step, tap = tap + one) {
                const Float share = select(place == tap, g, Float{});
                write(to, areApart ? share : read<kBlock>(to) + share);
            }
            tap = tap + Splat<Int>::of(s.window[1] - (in.columnEnd - in.columnBegin));
        }
    };
    forEachWindow(s, [&](std::int64_t at, const Inside& in) {
        forEachGroup(s, [&](std::int64_t group) { window(at, in, group); });
    });
}

int divisor(const PoolShape& s, const Inside& in) { return s.countPadding ? s.window[0] * s.window[1] : in.count(); }

template <int kBlock, class T>
void averagePoolOf(const PoolShape& s, const T* x, T* y) {
    using Float = typename Pixel<kBlock>::Float;
    const std::int64_t step = stepOf<T, kBlock>(s);
    forEachWindow(s, [&](std::int64_t at, const Inside& in) {
        forEachGroup(s, [&](std::int64_t group) {
            Float sum{};
            for (int r = in.rowBegin; r < in.rowEnd; ++r) {
                for (int c = in.columnBegin; c < in.columnEnd; ++c)
                    sum += read<kBlock>(x + in.pixel(s, r, c) * step + group);
            }
            write(y + at * step + group, sum / static_cast<float>(divisor(s, in)));
        });
    });
}

template <int kBlock, class T>
void averagePoolBackwardOf(const PoolShape& s, const T* dy, T* dx) {
    using Float = typename Pixel<kBlock>::Float;
    const std::int64_t step = stepOf<T, kBlock>(s);
    zeroPlane<kBlock>(s, dx);
    forEachWindow(s, [&](std::int64_t at, const Inside& in) {
        forEachGroup(s, [&](std::int64_t group) {
            const Float share = read<kBlock>(dy + at * step + group) / static_cast<float>(divisor(s, in));
            for (int r = in.rowBegin; r < in.rowEnd; ++r) {
                for (int c = in.columnBegin; c < in.columnEnd; ++c) {
                    T* to = dx + in.pixel(s, r, c) * step + group;
                    write(to, read<kBlock>(to) + share);
                }
            }
        });
    });
}

template <bool kPlaces, class T>
void maxPoolOf(const PoolShape& shape, int block, const T* x, T* y, std::int32_t* argmax) {
    if constexpr (!kIsHalf<T>) {
        if (block == 8) return maxPoolOf<8, kPlaces>(shape, x, y, argmax);
        if (block == 1) return maxPoolOf<1, kPlaces>(shape, x, y, argmax);
    }
    maxPoolOf<16, kPlaces>(shape, x, y, argmax);
}

template <bool kRelu, class T>
void maxPoolBackwardOf(const PoolShape& shape, int block, const T* dy, const std::int32_t* argmax, const T* y, T* dx) {
    if constexpr (!kIsHalf<T>) {
        if (block == 8) return maxPoolBackwardOf<8, kRelu>(shape, dy, argmax, y, dx);
        if (block == 1) return maxPoolBackwardOf<1, kRelu>(shape, dy, argmax, y, dx);
    }
    maxPoolBackwardOf<16, kRelu>(shape, dy, argmax, y, dx);
}

}  // namespace

template <class T>
void maxPool(const PoolShape& shape, int block, const T* x, T* y, std::int32_t* argmax) {
    if (argmax) maxPoolOf<true>(shape, block, x, y, argmax);
    else maxPoolOf<false>(shape, block, x, y, argmax);
}

template <class T>
void maxPoolBackward(const PoolShape& shape, int block, const T* dy, const std::int32_t* argmax, const T* y, T* dx) {
    if (y) maxPoolBackwardOf<true>(shape, block, dy, argmax, y, dx);
    else maxPoolBackwardOf<false>(shape, block, dy, argmax, y, dx);
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
