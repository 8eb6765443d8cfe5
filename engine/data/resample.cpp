#include "engine/data/resample.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/data/each_processor.h"

namespace lockstep {

namespace {

double kernel(Interpolation interpolation, double x) {
    x = std::abs(x);
    if (interpolation == Interpolation::Bilinear) return std::max(0.0, 1 - x);
    constexpr double a = -0.5;
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// Which pixels along an edge make one of the result: `count` from `first` on, with their weights.
struct Taps {
    struct Tap {
        int first = 0, count = 0;
    };
    std::vector<Tap> taps;              // by pixel of the result
    std::vector<std::int16_t> weights;  // `stride` of each
    int stride = 0, bits = 0;           // a weight of 1 is 1 << bits: as fine as the largest of them allows

    const std::int16_t* of(std::size_t at) const { return &weights[at * static_cast<std::size_t>(stride)]; }
    int begin() const { return taps.front().first; }
    int end() const { return taps.back().first + taps.back().count; }
};

int bitsFor(double largest) {
    int bits = 0;
    while (bits < 21 && std::lround(largest * (1 << (bits + 1))) < 1 << 15) ++bits;
    return bits;
}

// Of `size` pixels those from `from` to `to` become `count`.
void tapsOf(int size, double from, double to, int count, Interpolation interpolation, Taps& made) {
    static thread_local std::vector<double> exact;
    const double scale = (to - from) / count, wide = std::max(scale, 1.0), reach = wide * reachOf(interpolation);
    made.stride = static_cast<int>(std::ceil(2 * reach)) + 2;
    made.taps.resize(static_cast<std::size_t>(count));
    exact.assign(static_cast<std::size_t>(count) * static_cast<std::size_t>(made.stride), 0);
    double largest = 0;
    for (int i = 0; i < count; ++i) {
        const double middle = from + (i + 0.5) * scale;
        const int first = std::clamp(static_cast<int>(middle - reach + 0.5), 0, size - 1);
        const int end =
            std::clamp(static_cast<int>(middle + reach + 0.5), first + 1, std::min(size, first + made.stride));
        double* weights = &exact[static_cast<std::size_t>(i) * static_cast<std::size_t>(made.stride)];
        double sum = 0;
        for (int k = 0; k < end - first; ++k)
            sum += weights[k] = kernel(interpolation, (first + k + 0.5 - middle) / wide);
        for (int k = 0; k < end - first; ++k) largest = std::max(largest, weights[k] /= sum);
        made.taps[static_cast<std::size_t>(i)] = {first, end - first};
    }
    made.bits = bitsFor(largest);
    made.weights.resize(exact.size());
    std::ranges::transform(exact, made.weights.begin(), [&](double each) {
        return static_cast<std::int16_t>(std::lround(each * (1 << made.bits)));
    });
}

std::uint8_t levelOf(int sum, int bits) { return static_cast<std::uint8_t>(std::clamp(sum >> bits, 0, 255)); }

LOCKSTEP_EACH_PROCESSOR
void widen(const std::uint8_t* __restrict from, std::size_t count, std::int16_t* __restrict to) {
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
}

// A row in colour made as wide as the result. Of each pixel four numbers are read and written, of which the last is the
// next pixel's.
LOCKSTEP_EACH_PROCESSOR
void acrossColours(const std::int16_t* __restrict row, const Taps& columns, std::uint8_t* __restrict out) {
    using Numbers = std::int16_t __attribute__((vector_size(8)));
    using Sums = int __attribute__((vector_size(16)));
    using Levels = std::uint8_t __attribute__((vector_size(4)));
    const int half = 1 << (columns.bits - 1), bits = columns.bits, begin = columns.begin();
    for (std::size_t x = 0; x < columns.taps.size(); ++x, out += 3) {
        const std::int16_t* weights = columns.of(x);
        const std::int16_t* pixel = row + 3 * static_cast<std::ptrdiff_t>(columns.taps[x].first - begin);
        Sums sums = {half, half, half, half};
        for (int k = 0; k < columns.taps[x].count; ++k, pixel += 3) {
            Numbers numbers;
            std::memcpy(&numbers, pixel, sizeof numbers);
            sums += int{weights[k]} * __builtin_convertvector(numbers, Sums);
        }
        sums >>= bits;
        sums = sums < 0 ? Sums{} : sums;
        sums = sums > 255 ? Sums{255, 255, 255, 255} : sums;
        const Levels levels = __builtin_convertvector(sums, Levels);
        std::memcpy(out, &levels, sizeof levels);
    }
}

void acrossGreys(const std::int16_t* row, const Taps& columns, std::uint8_t* out) {
    for (std::size_t x = 0; x < columns.taps.size(); ++x) {
        const std::int16_t* weights = columns.of(x);
        const std::int16_t* pixel = row + (columns.taps[x].first - columns.begin());
        int sum = 1 << (columns.bits - 1);
        for (int k = 0; k < columns.taps[x].count; ++k) sum += weights[k] * pixel[k];
        out[x] = levelOf(sum, columns.bits);
    }
}

// out[i] = sum of weights[k] * rows[k * rowBytes + i].
LOCKSTEP_EACH_PROCESSOR
void downRows(const std::uint8_t* __restrict rows, std::size_t rowBytes, const std::int16_t* __restrict weights,
              int count, int bits, std::uint8_t* __restrict out) {
    constexpr std::size_t kBlock = 64;  // rowBytes is a multiple of it
    for (std::size_t i = 0; i < rowBytes; i += kBlock) {
        int sums[kBlock];
        for (std::size_t j = 0; j < kBlock; ++j) sums[j] = 1 << (bits - 1);
        for (int k = 0; k < count; ++k) {
            const std::uint8_t* row = rows + static_cast<std::size_t>(k) * rowBytes + i;
            const int weight = weights[k];
            for (std::size_t j = 0; j < kBlock; ++j) sums[j] += weight * row[j];
        }
        for (std::size_t j = 0; j < kBlock; ++j) out[i + j] = levelOf(sums[j], bits);
    }
}

LOCKSTEP_EACH_PROCESSOR
void apart(const std::uint8_t* __restrict row, std::size_t width, std::size_t plane, std::uint8_t* __restrict out) {
    for (std::size_t x = 0; x < width; ++x)
        for (std::size_t c = 0; c < 3; ++c) out[c * plane + x] = row[3 * x + c];
}

// Of one thread, for its next picture.
struct Workspace {
    Taps rows, columns;
    std::vector<std::int16_t> wide;           // a row of the picture
    std::vector<std::uint8_t> narrowed, row;  // rows as wide as the result; one of the result
};

}  // namespace

// Across first, then down, with whole levels between: as Pillow and torchvision do it.
void resample(const PixelView& picture, const PictureBox& box, int height, int width, Interpolation interpolation,
              std::span<std::uint8_t> out) {
    assert(picture.channels == 1 || picture.channels == 3);
    static thread_local Workspace at;
    const auto channels = static_cast<std::size_t>(picture.channels), wide = static_cast<std::size_t>(width);
    const std::size_t plane = static_cast<std::size_t>(height) * wide, rowBytes = (channels * wide + 64) / 64 * 64;
    assert(out.size() == plane * channels);
    tapsOf(picture.height, box.top, box.bottom, height, interpolation, at.rows);
    tapsOf(picture.width, box.left, box.right, width, interpolation, at.columns);
    const std::size_t taken = channels * static_cast<std::size_t>(at.columns.end() - at.columns.begin());
    at.wide.resize(taken + 1);
    at.narrowed.resize(rowBytes * static_cast<std::size_t>(at.rows.end() - at.rows.begin()));
    at.row.resize(rowBytes);
    std::uint8_t* narrowed = at.narrowed.data();
    for (int y = at.rows.begin(); y < at.rows.end(); ++y, narrowed += rowBytes) {
        widen(picture.pixels + static_cast<std::size_t>(y) * picture.rowBytes +
                  channels * static_cast<std::size_t>(at.columns.begin()),
              taken, at.wide.data());
        if (channels == 1) acrossGreys(at.wide.data(), at.columns, narrowed);
        else acrossColours(at.wide.data(), at.columns, narrowed);
    }
    for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y) {
        const auto [first, count] = at.rows.taps[y];
        const std::uint8_t* from = &at.narrowed[rowBytes * static_cast<std::size_t>(first - at.rows.begin())];
        downRows(from, rowBytes, at.rows.of(y), count, at.rows.bits, at.row.data());
        if (channels == 1) std::memcpy(&out[y * wide], at.row.data(), wide);
        else apart(at.row.data(), wide, plane, &out[y * wide]);
    }
}

void resamplePlanes(std::span<const std::uint8_t> planes, int height, int width, const PictureBox& part,
                    std::span<std::uint8_t> out) {
    const auto rowBytes = static_cast<std::size_t>(width), plane = static_cast<std::size_t>(height) * rowBytes;
    const auto left = static_cast<std::size_t>(part.left), top = static_cast<std::size_t>(part.top);
    for (std::size_t at = 0; at < planes.size(); at += plane) {
        const PixelView view{&planes[at + top * rowBytes + left], 1, static_cast<int>(part.height()),
                             static_cast<int>(part.width()), rowBytes};
        resample(view, {0, 0, part.width(), part.height()}, height, width, Interpolation::Bilinear,
                 out.subspan(at, plane));
    }
}

}  // namespace lockstep
