#include "engine/backend/cpu/simd/block_tile.h"
#include "engine/backend/cpu/simd/lanes.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

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
    [[gnu::always_inline]] static void fromInputs(const F16* d, F16* v) {
        const F16 evenA = d[4] - d[2] * kB2, oddA = (d[3] - d[1] * kB2) * kA;
        const F16 evenB = d[4] - d[2] * kA2, oddB = (d[3] - d[1] * kA2) * kB;
        v[0] = d[0] * (kA2 * kB2) - d[2] * (kA2 + kB2) + d[4];
        v[1] = evenA + oddA;
        v[2] = evenA - oddA;
        v[3] = evenB + oddB;
        v[4] = evenB - oddB;
        v[5] = d[1] * (kA2 * kB2) - d[3] * (kA2 + kB2) + d[5];
    }

    // Points to outputs: the values of a polynomial's coefficients, A.
    [[gnu::always_inline]] static void toOutputs(const F16* m, F16* y) {
        const F16 evenA = m[1] + m[2], oddA = m[1] - m[2], evenB = m[3] + m[4], oddB = m[3] - m[4];
        y[0] = m[0] + evenA + evenB;
        y[1] = oddA * kA + oddB * kB;
        y[2] = evenA * kA2 + evenB * kB2;
        y[3] = oddA * (kA * kA2) + oddB * (kB * kB2) + m[5];
    }

    // The transpose of the above, for gradients.
    [[gnu::always_inline]] static void fromOutputs(const F16* y, F16* z) {
        const F16 evenA = y[0] + y[2] * kA2, oddA = (y[1] + y[3] * kA2) * kA;
        const F16 evenB = y[0] + y[2] * kB2, oddB = (y[1] + y[3] * kB2) * kB;
        z[0] = y[0];
        z[1] = evenA + oddA;
        z[2] = evenA - oddA;
        z[3] = evenB + oddB;
        z[4] = evenB - oddB;
        z[5] = y[3];
    }

    // A filter's three taps to points, G.
    [[gnu::always_inline]] static void fromTaps(const F16* w, F16* u) {
        const F16 evenA = (w[0] + w[2] * kA2) * kScaleA, oddA = w[1] * (kA * kScaleA);
        const F16 evenB = (w[0] + w[2] * kB2) * kScaleB, oddB = w[1] * (kB * kScaleB);
        u[0] = w[0] * kScale0;
        u[1] = evenA + oddA;
        u[2] = evenA - oddA;
        u[3] = evenB + oddB;
        u[4] = evenB - oddB;
        u[5] = w[2];
    }

    // Its transpose.
    [[gnu::always_inline]] static void toTaps(const F16* u, F16* w) {
        const F16 evenA = (u[1] + u[2]) * kScaleA, oddA = (u[1] - u[2]) * (kA * kScaleA);
        const F16 evenB = (u[3] + u[4]) * kScaleB, oddB = (u[3] - u[4]) * (kB * kScaleB);
        w[0] = u[0] * kScale0 + evenA + evenB;
        w[1] = oddA + oddB;
        w[2] = evenA * kA2 + evenB * kB2 + u[5];
    }
};

// y0 = w1 x0 + w2 x1 and y1 = w0 x0 + w1 x1 share the product w1 (x0 + x1).
struct Image2 {
    static constexpr std::size_t kInputs = 2, kPoints = 3, kOutputs = 2;

    [[gnu::always_inline]] static void fromInputs(const F16* x, F16* v) {
        v[0] = x[0];
        v[1] = x[0] + x[1];
        v[2] = x[1];
    }
    [[gnu::always_inline]] static void toOutputs(const F16* m, F16* y) {
        y[0] = m[1] + m[2];
        y[1] = m[1] + m[0];
    }
    [[gnu::always_inline]] static void fromOutputs(const F16* y, F16* z) {
        z[0] = y[1];
        z[1] = y[0] + y[1];
        z[2] = y[0];
    }
    [[gnu::always_inline]] static void fromTaps(const F16* w, F16* u) {
        u[0] = w[0] - w[1];
        u[1] = w[1];
        u[2] = w[2] - w[1];
    }
    [[gnu::always_inline]] static void toTaps(const F16* u, F16* w) {
        w[0] = u[0];
        w[1] = u[1] - u[0] - u[2];
        w[2] = u[2];
    }
};

// take(i, j), kIn x kIn vectors, to put(i, j, value), kOut x kOut, by columns and then by rows.
template <std::size_t kIn, std::size_t kOut, class Take, class Put, class Transform>
[[gnu::always_inline]] inline void twice(Take take, Put put, Transform transform) {
    F16 half[kOut * kIn];
    unrolled<0, kIn>([&](auto j) __attribute__((always_inline)) {
        F16 column[kIn], result[kOut];
        unrolled<0, kIn>([&](auto i) __attribute__((always_inline)) { column[i.value] = take(i.value, j.value); });
        transform(column, result);
        unrolled<0, kOut>([&](auto i)
                              __attribute__((always_inline)) { half[i.value * kIn + j.value] = result[i.value]; });
    });
    unrolled<0, kOut>([&](auto i) __attribute__((always_inline)) {
        F16 row[kIn], result[kOut];
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

// A square of an image, zero outside of it, to put(i, j, value).
template <std::size_t kSide, std::size_t kPoints, class Tiles, class Load, class Put, class Transform>
[[gnu::always_inline]] inline void transformTile(const WinogradImage& image, const Tiles& tiles, const float* x,
                                                 Load get, Put put, Transform transform) {
    constexpr auto kRows = static_cast<std::int64_t>(kSide);
    const std::int64_t top = tiles.top(), left = tiles.left(), stride = image.width * 16;
    const float* from = x + tiles.sample() * image.sampleStride + (top * image.width + left) * 16;
    const bool isInside = top >= 0 && left >= 0 && top + kRows <= image.height && left + kRows <= image.width;
    const auto pixel = [=](std::size_t i, std::size_t j) __attribute__((always_inline)) {
        return from + static_cast<std::int64_t>(i) * stride + static_cast<std::int64_t>(j) * 16;
    };
    if (isInside) {
        const auto take = [&](std::size_t i, std::size_t j) __attribute__((always_inline)) { return get(pixel(i, j)); };
        return twice<kSide, kPoints>(take, put, transform);
    }
    F16 tile[kSide * kSide];
    for (std::size_t i = 0; i < kSide; ++i) {
        const std::int64_t row = top + static_cast<std::int64_t>(i);
        for (std::size_t j = 0; j < kSide; ++j) {
            const std::int64_t column = left + static_cast<std::int64_t>(j);
            const bool isThere = row >= 0 && row < image.height && column >= 0 && column < image.width;
            tile[i * kSide + j] = isThere ? get(pixel(i, j)) : F16{};
        }
    }
    const auto take = [&](std::size_t i, std::size_t j) __attribute__((always_inline)) { return tile[i * kSide + j]; };
    twice<kSide, kPoints>(take, put, transform);
}

constexpr std::size_t kAhead = 8;  // tiles

// The pixels of a tile's outputs, which come into the second-level cache while others are at work.
template <std::size_t kOutputs>
[[gnu::always_inline]] inline void prefetchTile(const WinogradImage& image, const Tiles<kOutputs>& tiles,
                                                const float* x) {
    const std::int64_t top = tiles.top() + image.top, left = tiles.left() + image.left;
    const float* from = x + tiles.sample() * image.sampleStride + (top * image.width + left) * 16;
    for (std::size_t i = 0; i < kOutputs; ++i, from += image.width * 16) {
        for (std::size_t j = 0; j < kOutputs; ++j) __builtin_prefetch(from + j * 16, 0, 2);
    }
}

// Squares of kSide x kSide pixels to points.
template <class Form, std::size_t kSide, class Load, class Transform>
[[gnu::always_inline]] inline void pointsOf(const WinogradImage& image, const float* x, const WinogradSpan& span,
                                            float* points, Load get, Transform transform) {
    Tiles<Form::kOutputs> tiles(image, span.begin), ahead(image, span.begin + kAhead);
    for (std::size_t t = 0; t < span.count; ++t, tiles.next(), points += 16) {
        prefetchTile(image, ahead, x);
        ahead.next();
        const auto put = [&](std::size_t i, std::size_t j, F16 value) __attribute__((always_inline)) {
            store(points + (i * Form::kPoints + j) * span.pointStride, value);
        };
        transformTile<kSide, Form::kPoints>(image, tiles, x, get, put, transform);
    }
}

template <class Form>
void data(const WinogradImage& image, const float* x, const WinogradSpan& span, const ChannelAffine* norm,
          float* points) {
    const auto transform = [](const F16* from, F16* to) __attribute__((always_inline)) { Form::fromInputs(from, to); };
    if (!norm)
        return pointsOf<Form, Form::kInputs>(
            image, x, span, points, [](const float* from) { return load(from); }, transform);
    const F16 mean = load(norm->mean), scale = load(norm->scale), offset = load(norm->offset);
    const auto get = [=](const float* from) { return positive((load(from) - mean) * scale + offset); };
    pointsOf<Form, Form::kInputs>(image, x, span, points, get, transform);
}

template <class Form>
void gradient(const WinogradImage& image, const float* dy, const WinogradSpan& span, float* points) {
    pointsOf<Form, Form::kOutputs>(
        image, dy, span, points, [](const float* from) { return load(from); },
        [](const F16* from, F16* to) __attribute__((always_inline)) { Form::fromOutputs(from, to); });
}

template <class Form>
void output(const WinogradImage& image, const float* points, const WinogradSpan& span, const SumEnd& end, float* y) {
    const Ending ending(end, 0);
    Tiles<Form::kOutputs> tiles(image, span.begin);
    for (std::size_t t = 0; t < span.count; ++t, tiles.next(), points += 16) {
        const std::int64_t rows = image.height - tiles.top(), columns = image.width - tiles.left();
        const std::int64_t first = static_cast<std::int64_t>(tiles.sample() * image.sampleStride) +
                                   (tiles.top() * image.width + tiles.left()) * 16;
        const auto take = [&](std::size_t i, std::size_t j) __attribute__((always_inline)) {
            return load(points + (i * Form::kPoints + j) * span.pointStride);
        };
        const auto put = [&](std::size_t i, std::size_t j, F16 value) __attribute__((always_inline)) {
            const auto row = static_cast<std::int64_t>(i), column = static_cast<std::int64_t>(j);
            if (row >= rows || column >= columns) return;
            const std::int64_t at = first + (row * image.width + column) * 16;
            store(y + at, ending.of(value, at));
        };
        twice<Form::kPoints, Form::kOutputs>(
            take, put, [](const F16* from, F16* to) __attribute__((always_inline)) { Form::toOutputs(from, to); });
    }
}

template <class Form>
void filter(const float* w, float* points, std::size_t pointStride) {
    for (std::size_t row = 0; row < 16; ++row) {
        const auto take = [&](std::size_t i, std::size_t j) __attribute__((always_inline)) {
            return load(w + (i * 3 + j) * 256 + row * 16);
        };
        const auto put = [&](std::size_t i, std::size_t j, F16 value) __attribute__((always_inline)) {
            store(points + (i * Form::kPoints + j) * pointStride + row * 16, value);
        };
        twice<3, Form::kPoints>(
            take, put, [](const F16* from, F16* to) __attribute__((always_inline)) { Form::fromTaps(from, to); });
    }
}

template <class Form>
void filterGradient(const WinogradSums& sums, bool adds, float* dw) {
    for (std::size_t row = 0; row < 16; ++row) {
        const auto take = [&](std::size_t i, std::size_t j) __attribute__((always_inline)) {
            const float* from = sums.points + (i * Form::kPoints + j) * sums.pointStride + row * 16;
            F16 sum = load(from);
            for (std::size_t part = 1; part < sums.parts; ++part) sum += load(from + part * sums.partStride);
            return sum;
        };
        const auto put = [&](std::size_t i, std::size_t j, F16 value) __attribute__((always_inline)) {
            float* to = dw + (i * 3 + j) * 256 + row * 16;
            store(to, adds ? load(to) + value : value);
        };
        twice<Form::kPoints, 3>(
            take, put, [](const F16* from, F16* to) __attribute__((always_inline)) { Form::toTaps(from, to); });
    }
}

}  // namespace

void winogradData(const WinogradImage& image, const float* x, const WinogradSpan& span, const ChannelAffine* norm,
                  float* points) {
    image.form == WinogradForm::Tile4 ? data<Tile4>(image, x, span, norm, points)
                                      : data<Image2>(image, x, span, norm, points);
}

void winogradGradient(const WinogradImage& image, const float* dy, const WinogradSpan& span, float* points) {
    image.form == WinogradForm::Tile4 ? gradient<Tile4>(image, dy, span, points)
                                      : gradient<Image2>(image, dy, span, points);
}

void winogradOutput(const WinogradImage& image, const float* points, const WinogradSpan& span, const SumEnd& end,
                    float* y) {
    image.form == WinogradForm::Tile4 ? output<Tile4>(image, points, span, end, y)
                                      : output<Image2>(image, points, span, end, y);
}

void winogradFilter(WinogradForm form, const float* w, bool turned, float* points, std::size_t pointStride) {
    alignas(64) float turnedTaps[9 * 256];
    if (turned) {
        for (std::size_t tap = 0; tap < 9; ++tap)
            rowsToLanes(w + (8 - tap) * 256, 16, 16, turnedTaps + tap * 256, 16, 16);
        w = turnedTaps;
    }
    form == WinogradForm::Tile4 ? filter<Tile4>(w, points, pointStride) : filter<Image2>(w, points, pointStride);
}

void winogradFilterGradient(WinogradForm form, const WinogradSums& sums, bool adds, float* dw) {
    form == WinogradForm::Tile4 ? filterGradient<Tile4>(sums, adds, dw) : filterGradient<Image2>(sums, adds, dw);
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
