#include "engine/backend/cpu/simd/block_tile.h"
#include "engine/backend/cpu/simd/lanes.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

// What is transformed at once: a register of channels, for six of two registers each would go through memory.
#ifdef __AVX512F__
using Register = F16;
#else
using Register = F8;
#endif

// How channels lie: kBlock of them side by side, which are read as one or more V. Sixteen are kParts of those.
template <class Vector, std::size_t kChannels>
struct Blocks {
    using V = Vector;
    static constexpr std::size_t kBlock = kChannels, kWidth = sizeof(V) / sizeof(float), kParts = 16 / kWidth;
};
using Sixteens = Blocks<Register, 16>;
using Eights = Blocks<F8, 8>;

// F(4x4,3x3). The points are 0, ±a, ±b and infinity. These two, which oneDNN uses as well, lose two bits fewer than 1
// and 2 do.
struct Tile4 {
    static constexpr std::size_t kInputs = 6, kPoints = 6, kOutputs = 4;
    static constexpr float kA = 0.625f, kB = 1.5f;
    static constexpr float kA2 = kA * kA, kB2 = kB * kB;
    static constexpr float kScale0 = 1 / (kA2 * kB2), kScaleA = 1 / (2 * kA2 * (kA2 - kB2)),
                           kScaleB = 1 / (2 * kB2 * (kB2 - kA2));

    // Inputs to points: the transposed B of the algorithm, whose rows are the products of (x - point) over all other
    // points.
    template <class V>
    [[gnu::always_inline]] static void fromInputs(const V* d, V* v) {
        const V evenA = d[4] - d[2] * kB2, oddA = (d[3] - d[1] * kB2) * kA;
        const V evenB = d[4] - d[2] * kA2, oddB = (d[3] - d[1] * kA2) * kB;
        v[0] = d[0] * (kA2 * kB2) - d[2] * (kA2 + kB2) + d[4];
        v[1] = evenA + oddA;
        v[2] = evenA - oddA;
        v[3] = evenB + oddB;
        v[4] = evenB - oddB;
        v[5] = d[1] * (kA2 * kB2) - d[3] * (kA2 + kB2) + d[5];
    }

    // Points to outputs: the values of a polynomial's coefficients, A.
    template <class V>
    [[gnu::always_inline]] static void toOutputs(const V* m, V* y) {
        const V evenA = m[1] + m[2], oddA = m[1] - m[2], evenB = m[3] + m[4], oddB = m[3] - m[4];
        y[0] = m[0] + evenA + evenB;
        y[1] = oddA * kA + oddB * kB;
        y[2] = evenA * kA2 + evenB * kB2;
        y[3] = oddA * (kA * kA2) + oddB * (kB * kB2) + m[5];
    }

    // The transpose of the above, for gradients.
    template <class V>
    [[gnu::always_inline]] static void fromOutputs(const V* y, V* z) {
        const V evenA = y[0] + y[2] * kA2, oddA = (y[1] + y[3] * kA2) * kA;
        const V evenB = y[0] + y[2] * kB2, oddB = (y[1] + y[3] * kB2) * kB;
        z[0] = y[0];
        z[1] = evenA + oddA;
        z[2] = evenA - oddA;
        z[3] = evenB + oddB;
        z[4] = evenB - oddB;
        z[5] = y[3];
    }

    // A filter's three taps to points, G.
    template <class V>
    [[gnu::always_inline]] static void fromTaps(const V* w, V* u) {
        const V evenA = (w[0] + w[2] * kA2) * kScaleA, oddA = w[1] * (kA * kScaleA);
        const V evenB = (w[0] + w[2] * kB2) * kScaleB, oddB = w[1] * (kB * kScaleB);
        u[0] = w[0] * kScale0;
        u[1] = evenA + oddA;
        u[2] = evenA - oddA;
        u[3] = evenB + oddB;
        u[4] = evenB - oddB;
        u[5] = w[2];
    }

    // Its transpose.
    template <class V>
    [[gnu::always_inline]] static void toTaps(const V* u, V* w) {
        const V evenA = (u[1] + u[2]) * kScaleA, oddA = (u[1] - u[2]) * (kA * kScaleA);
        const V evenB = (u[3] + u[4]) * kScaleB, oddB = (u[3] - u[4]) * (kB * kScaleB);
        w[0] = u[0] * kScale0 + evenA + evenB;
        w[1] = oddA + oddB;
        w[2] = evenA * kA2 + evenB * kB2 + u[5];
    }
};

// y0 = w1 x0 + w2 x1 and y1 = w0 x0 + w1 x1 share the product w1 (x0 + x1).
struct Image2 {
    static constexpr std::size_t kInputs = 2, kPoints = 3, kOutputs = 2;

    template <class V>
    [[gnu::always_inline]] static void fromInputs(const V* x, V* v) {
        v[0] = x[0];
        v[1] = x[0] + x[1];
        v[2] = x[1];
    }
    template <class V>
    [[gnu::always_inline]] static void toOutputs(const V* m, V* y) {
        y[0] = m[1] + m[2];
        y[1] = m[1] + m[0];
    }
    template <class V>
    [[gnu::always_inline]] static void fromOutputs(const V* y, V* z) {
        z[0] = y[1];
        z[1] = y[0] + y[1];
        z[2] = y[0];
    }
    template <class V>
    [[gnu::always_inline]] static void fromTaps(const V* w, V* u) {
        u[0] = w[0] - w[1];
        u[1] = w[1];
        u[2] = w[2] - w[1];
    }
    template <class V>
    [[gnu::always_inline]] static void toTaps(const V* u, V* w) {
        w[0] = u[0];
        w[1] = u[1] - u[0] - u[2];
        w[2] = u[2];
    }
};

// take(i, j), kIn x kIn vectors, to put(i, j, value), kOut x kOut, by columns and then by rows.
template <class V, std::size_t kIn, std::size_t kOut, class Take, class Put, class Transform>
[[gnu::always_inline]] inline void twice(Take take, Put put, Transform transform) {
    V half[kOut * kIn];
    unrolled<0, kIn>([&](auto j) __attribute__((always_inline)) {
        V column[kIn], result[kOut];
        unrolled<0, kIn>([&](auto i) __attribute__((always_inline)) { column[i.value] = take(i.value, j.value); });
        transform(column, result);
        unrolled<0, kOut>([&](auto i)
                              __attribute__((always_inline)) { half[i.value * kIn + j.value] = result[i.value]; });
    });
    unrolled<0, kOut>([&](auto i) __attribute__((always_inline)) {
        V row[kIn], result[kOut];
        unrolled<0, kIn>([&](auto j) __attribute__((always_inline)) { row[j.value] = half[i.value * kIn + j.value]; });
        transform(row, result);
        unrolled<0, kOut>([&](auto j) __attribute__((always_inline)) { put(i.value, j.value, result[j.value]); });
    });
}

// Walks through the tiles of all samples; each has kOutputs x kOutputs of them.
template <std::size_t kOutputs>
class Tiles {
public:
    Tiles(const WinogradImage& image, std::size_t begin) : m_image(image) {
        const auto perSample = static_cast<std::size_t>(image.tileRows * image.tileColumns);
        m_sample = begin / perSample;
        const auto rest = static_cast<std::int64_t>(begin % perSample);
        m_row = rest / image.tileColumns;
        m_column = rest % image.tileColumns;
    }
    void next() {
        if (++m_column < m_image.tileColumns) return;
        m_column = 0;
        if (++m_row < m_image.tileRows) return;
        m_row = 0;
        ++m_sample;
    }
    std::size_t sample() const { return m_sample; }
    std::int64_t top() const { return kSide * m_row - m_image.top; }
    std::int64_t left() const { return kSide * m_column - m_image.left; }

private:
    static constexpr auto kSide = static_cast<std::int64_t>(kOutputs);
    const WinogradImage& m_image;
    std::size_t m_sample = 0;
    std::int64_t m_row = 0, m_column = 0;
};

// The channels of a pixel that are transformed at once: those of a part, which lie so far behind those of the first.
template <class Blocks>
class Pixels {
public:
    Pixels(const WinogradImage& image, std::size_t part)
        : m_width(image.width), m_part(static_cast<std::int64_t>(part * Blocks::kWidth)) {
        if constexpr (Blocks::kBlock < 16) m_part *= image.height * image.width;
    }
    [[gnu::always_inline]] std::int64_t at(std::int64_t row, std::int64_t column) const {
        return m_part + (row * m_width + column) * kStep;
    }

private:
    static constexpr auto kStep = static_cast<std::int64_t>(Blocks::kBlock);
    std::int64_t m_width, m_part;
};

// A square of an image, zero outside of it, to put(i, j, value).
template <class Blocks, std::size_t kSide, std::size_t kPoints, class Tiles, class T, class Load, class Put,
          class Transform>
[[gnu::always_inline]] inline void transformTile(const WinogradImage& image, const Pixels<Blocks>& pixels,
                                                 const Tiles& tiles, const T* x, Load get, Put put,
                                                 Transform transform) {
    using V = typename Blocks::V;
    constexpr auto kRows = static_cast<std::int64_t>(kSide);
    const std::int64_t top = tiles.top(), left = tiles.left();
    const T* from = x + tiles.sample() * image.sampleStride + pixels.at(top, left);
    const std::int64_t down = image.width * static_cast<std::int64_t>(Blocks::kBlock);
    const bool isInside = top >= 0 && left >= 0 && top + kRows <= image.height && left + kRows <= image.width;
    const auto pixel = [=](std::size_t i, std::size_t j) __attribute__((always_inline)) {
        return from + static_cast<std::int64_t>(i) * down + static_cast<std::int64_t>(j * Blocks::kBlock);
    };
    if (isInside) {
        const auto take = [&](std::size_t i, std::size_t j) __attribute__((always_inline)) { return get(pixel(i, j)); };
        return twice<V, kSide, kPoints>(take, put, transform);
    }
    V tile[kSide * kSide];
    for (std::size_t i = 0; i < kSide; ++i) {
        const std::int64_t row = top + static_cast<std::int64_t>(i);
        for (std::size_t j = 0; j < kSide; ++j) {
            const std::int64_t column = left + static_cast<std::int64_t>(j);
            const bool isThere = row >= 0 && row < image.height && column >= 0 && column < image.width;
            tile[i * kSide + j] = isThere ? get(pixel(i, j)) : V{};
        }
    }
    const auto take = [&](std::size_t i, std::size_t j) __attribute__((always_inline)) { return tile[i * kSide + j]; };
    twice<V, kSide, kPoints>(take, put, transform);
}

constexpr std::size_t kAhead = 8;  // tiles

// The pixels of a tile's outputs, which come into the second-level cache while others are at work.
template <class Blocks, std::size_t kOutputs, class T>
[[gnu::always_inline]] inline void prefetchTile(const WinogradImage& image, const Pixels<Blocks>& pixels,
                                                const Tiles<kOutputs>& tiles, const T* x) {
    const T* from =
        x + tiles.sample() * image.sampleStride + pixels.at(tiles.top() + image.top, tiles.left() + image.left);
    for (std::size_t i = 0; i < kOutputs; ++i, from += image.width * static_cast<std::int64_t>(Blocks::kBlock)) {
        for (std::size_t j = 0; j < kOutputs; ++j) __builtin_prefetch(from + j * Blocks::kBlock, 0, 2);
    }
}

// Squares of kSide x kSide pixels to points, of one part of the channels.
template <class Blocks, class Form, std::size_t kSide, class T, class Load, class Transform>
[[gnu::always_inline]] inline void pointsOf(const WinogradImage& image, std::size_t part, const T* x,
                                            const WinogradSpan& span, float* points, Load get, Transform transform) {
    using V = typename Blocks::V;
    const Pixels<Blocks> pixels(image, part);
    Tiles<Form::kOutputs> tiles(image, span.begin), ahead(image, span.begin + kAhead);
    points += part * Blocks::kWidth;
    for (std::size_t t = 0; t < span.count; ++t, tiles.next(), points += 16) {
        prefetchTile(image, pixels, ahead, x);
        ahead.next();
        const auto put = [&](std::size_t i, std::size_t j, V value) __attribute__((always_inline)) {
            store(points + (i * Form::kPoints + j) * span.pointStride, value);
        };
        transformTile<Blocks, kSide, Form::kPoints>(image, pixels, tiles, x, get, put, transform);
    }
}

template <class Blocks, class Form, class T>
void data(const WinogradImage& image, const T* x, const WinogradSpan& span, const ChannelAffine* norm, float* points) {
    using V = typename Blocks::V;
    const auto transform = [](const V* from, V* to) __attribute__((always_inline)) { Form::fromInputs(from, to); };
    const auto plain = [](const T* from) { return loadAs<V>(from); };
    for (std::size_t part = 0; part < Blocks::kParts; ++part) {
        if (!norm) {
            pointsOf<Blocks, Form, Form::kInputs>(image, part, x, span, points, plain, transform);
            continue;
        }
        const std::size_t at = part * Blocks::kWidth;
        const V mean = get<V>(norm->mean + at), scale = get<V>(norm->scale + at), offset = get<V>(norm->offset + at);
        const auto normed = [=](const T* from) { return positive((loadAs<V>(from) - mean) * scale + offset); };
        pointsOf<Blocks, Form, Form::kInputs>(image, part, x, span, points, normed, transform);
    }
}

template <class Blocks, class Form, class T>
void gradient(const WinogradImage& image, const T* dy, const WinogradSpan& span, float* points) {
    using V = typename Blocks::V;
    const auto transform = [](const V* from, V* to) __attribute__((always_inline)) { Form::fromOutputs(from, to); };
    const auto plain = [](const T* from) { return loadAs<V>(from); };
    for (std::size_t part = 0; part < Blocks::kParts; ++part)
        pointsOf<Blocks, Form, Form::kOutputs>(image, part, dy, span, points, plain, transform);
}

template <class Blocks, class Form, class T>
void output(const WinogradImage& image, std::size_t part, const float* points, const WinogradSpan& span,
            const SumEndOf<T>& end, T* y) {
    using V = typename Blocks::V;
    const Ending<T, V> ending(end, 0, part);
    const Pixels<Blocks> pixels(image, part);
    Tiles<Form::kOutputs> tiles(image, span.begin);
    points += part * Blocks::kWidth;
    for (std::size_t t = 0; t < span.count; ++t, tiles.next(), points += 16) {
        const std::int64_t rows = image.height - tiles.top(), columns = image.width - tiles.left();
        const auto sample = static_cast<std::int64_t>(tiles.sample() * image.sampleStride);
        const auto take = [&](std::size_t i, std::size_t j) __attribute__((always_inline)) {
            return get<V>(points + (i * Form::kPoints + j) * span.pointStride);
        };
        const auto put = [&](std::size_t i, std::size_t j, V value) __attribute__((always_inline)) {
            const auto row = static_cast<std::int64_t>(i), column = static_cast<std::int64_t>(j);
            if (row >= rows || column >= columns) return;
            const std::int64_t at = sample + pixels.at(tiles.top() + row, tiles.left() + column);
            store(y + at, ending.of(value, at));
        };
        twice<V, Form::kPoints, Form::kOutputs>(
            take, put, [](const V* from, V* to) __attribute__((always_inline)) { Form::toOutputs(from, to); });
    }
}

// The outputs from `lane` on of 16 by 16 filters' tap, a row of outputs for each channel.
template <class Blocks>
[[gnu::always_inline]] inline std::size_t tapAt(const WinogradFilters& filters, std::size_t tap, std::size_t lane) {
    if constexpr (Blocks::kBlock == 16) return tap * 256 + lane;
    const std::size_t channel = lane / 16, output = lane % 16;
    return output / 8 * filters.outputStride + (channel / 8 * 9 + tap) * 64 + channel % 8 * 8;
}

template <class Blocks, class Form>
void filter(const WinogradFilters& filters, const float* w, float* points, std::size_t pointStride) {
    using V = typename Blocks::V;
    for (std::size_t lane = 0; lane < 256; lane += Blocks::kWidth) {
        const auto take = [&](std::size_t i, std::size_t j) __attribute__((always_inline)) {
            return get<V>(w + tapAt<Blocks>(filters, i * 3 + j, lane));
        };
        const auto put = [&](std::size_t i, std::size_t j, V value) __attribute__((always_inline)) {
            store(points + (i * Form::kPoints + j) * pointStride + lane, value);
        };
        twice<V, 3, Form::kPoints>(
            take, put, [](const V* from, V* to) __attribute__((always_inline)) { Form::fromTaps(from, to); });
    }
}

template <class Blocks, class Form>
void filterGradient(const WinogradFilters& filters, const WinogradSums& sums, bool adds, float* dw) {
    using V = typename Blocks::V;
    for (std::size_t lane = 0; lane < 256; lane += Blocks::kWidth) {
        const auto take = [&](std::size_t i, std::size_t j) __attribute__((always_inline)) {
            const float* from = sums.points + (i * Form::kPoints + j) * sums.pointStride + lane;
            V sum = get<V>(from);
            for (std::size_t part = 1; part < sums.parts; ++part) sum += get<V>(from + part * sums.partStride);
            return sum;
        };
        const auto put = [&](std::size_t i, std::size_t j, V value) __attribute__((always_inline)) {
            float* to = dw + tapAt<Blocks>(filters, i * 3 + j, lane);
            store(to, adds ? get<V>(to) + value : value);
        };
        twice<V, Form::kPoints, 3>(
            take, put, [](const V* from, V* to) __attribute__((always_inline)) { Form::toTaps(from, to); });
    }
}

// body(how channels lie, the form)
template <class Body>
void withTypes(WinogradForm form, std::int64_t block, Body body) {
    if (form == WinogradForm::Tile4) block < 16 ? body(Eights{}, Tile4{}) : body(Sixteens{}, Tile4{});
    else block < 16 ? body(Eights{}, Image2{}) : body(Sixteens{}, Image2{});
}

}  // namespace

void winogradData(const WinogradImage& image, const float* x, const WinogradSpan& span, const ChannelAffine* norm,
                  float* points) {
    withTypes(image.form, image.block,
              [&]<class Blocks, class Form>(Blocks, Form) { data<Blocks, Form>(image, x, span, norm, points); });
}

void winogradGradient(const WinogradImage& image, const float* dy, const WinogradSpan& span, float* points) {
    withTypes(image.form, image.block,
              [&]<class Blocks, class Form>(Blocks, Form) { gradient<Blocks, Form>(image, dy, span, points); });
}

void winogradOutput(const WinogradImage& image, const float* points, const WinogradSpan& span, const SumEnd& end,
                    float* y) {
    withTypes(image.form, image.block, [&]<class Blocks, class Form>(Blocks, Form) {
        for (std::size_t part = 0; part < Blocks::kParts; ++part)
            output<Blocks, Form>(image, part, points, span, end, y);
    });
}

#ifdef __AVX512F__
void winogradDataHalves(const WinogradImage& image, const Bf16* x, const WinogradSpan& span, const ChannelAffine* norm,
                        float* points) {
    if (image.form == WinogradForm::Tile4) data<Sixteens, Tile4>(image, x, span, norm, points);
    else data<Sixteens, Image2>(image, x, span, norm, points);
}

void winogradGradientHalves(const WinogradImage& image, const Bf16* dy, const WinogradSpan& span, float* points) {
    if (image.form == WinogradForm::Tile4) gradient<Sixteens, Tile4>(image, dy, span, points);
    else gradient<Sixteens, Image2>(image, dy, span, points);
}

void winogradOutputHalves(const WinogradImage& image, const float* points, const WinogradSpan& span,
                          const SumEndOf<Bf16>& end, Bf16* y) {
    if (image.form == WinogradForm::Tile4) output<Sixteens, Tile4>(image, 0, points, span, end, y);
    else output<Sixteens, Image2>(image, 0, points, span, end, y);
}
#endif

void winogradFilter(WinogradForm form, const WinogradFilters& filters, const float* w, bool turned, float* points,
                    std::size_t pointStride) {
    alignas(64) float turnedTaps[9 * 256];
    if (turned) {
        alignas(64) float gathered[256];
        for (std::size_t tap = 0; tap < 9; ++tap) {
            const float* from = w + tapAt<Sixteens>(filters, 8 - tap, 0);
            if (filters.block < 16) {
                for (std::size_t lane = 0; lane < 256; lane += 8)
                    store(gathered + lane, get<F8>(w + tapAt<Eights>(filters, 8 - tap, lane)));
                from = gathered;
            }
            rowsToLanes(from, 16, 16, turnedTaps + tap * 256, 16, 16);
        }
        w = turnedTaps;
    }
    withTypes(form, turned ? 16 : static_cast<std::int64_t>(filters.block),
              [&]<class Blocks, class Form>(Blocks, Form) { filter<Blocks, Form>(filters, w, points, pointStride); });
}

void winogradFilterGradient(WinogradForm form, const WinogradFilters& filters, const WinogradSums& sums, bool adds,
                            float* dw) {
    withTypes(form, static_cast<std::int64_t>(filters.block),
              [&]<class Blocks, class Form>(Blocks, Form) { filterGradient<Blocks, Form>(filters, sums, adds, dw); });
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
