#include "engine/backend/cpu/simd/elements.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

constexpr float kInfinity = __builtin_inff();

std::size_t wholeColumns(const ScoreTile& tile) { return (tile.columns + 31) / 32 * 32; }

// What a row does not see, and what fills its last panel, weighs nothing.
void hide(const ScoreTile& tile, std::size_t row) {
    const std::size_t end = wholeColumns(tile), seen = tile.seen + row;
    for (std::size_t i = seen < tile.columns ? seen : tile.columns; i < end; ++i)
        tile.scores[row * tile.stride + i] = -kInfinity;
}

F16 larger(F16 a, F16 b) { return select(a > b, a, b); }

// The largest of a row, lane by lane.
F16 largestOf(const float* scores, std::size_t columns) {
    F16 largest = load(scores);
    for (std::size_t i = 16; i < columns; i += 16) largest = larger(load(scores + i), largest);
    return largest;
}

// Of up to sixteen rows of sixteen lanes what `join` makes of each row's, row by row.
template <class Join>
F16 acrossLanes(const float* rows, std::size_t count, Join join) {
    alignas(64) float turned[256];
    rowsToLanes(rows, 16, count, turned, 16, 16);
    F16 joined = load(turned);
    for (std::size_t i = 16; i < 256; i += 16) joined = join(joined, load(turned + i));
    return joined;
}

void scaleRow(float* y, std::size_t width, float factor) {
    std::size_t i = 0;
    for (; i + 16 <= width; i += 16) store(y + i, load(y + i) * factor);
    for (; i < width; ++i) y[i] *= factor;
}

}  // namespace

template <class T>
void rowDots(const T* a, const T* b, std::size_t stride, std::size_t rows, std::size_t width, float* out) {
    for (std::size_t row = 0; row < rows; ++row, a += stride, b += stride) {
        F16 sum{};
        std::size_t i = 0;
        for (; i + 16 <= width; i += 16) sum += load(a + i) * load(b + i);
        if (i < width) sum += loadRest(a + i, width - i) * loadRest(b + i, width - i);
        out[row] = total(sum);
    }
}
template void rowDots(const float*, const float*, std::size_t, std::size_t, std::size_t, float*);
template void rowDots(const Bf16*, const Bf16*, std::size_t, std::size_t, std::size_t, float*);

template <class T>
void softmaxTile(const ScoreTile& tile, float* largest, float* sums, float* y, std::size_t yStride, std::size_t width) {
    const std::size_t end = wholeColumns(tile);
    // Of sixteen rows at a time: one row's largest and its exponential alone would take as long.
    for (std::size_t first = 0; first < tile.rows; first += 16) {
        const std::size_t count = tile.rows - first < 16 ? tile.rows - first : 16;
        alignas(64) float parts[256], shifts[16], corrections[16];
        const auto scoresOf = [&](std::size_t row) { return tile.scores + (first + row) * tile.stride; };
        for (std::size_t row = 0; row < count; ++row) {
            hide(tile, first + row);
            store(parts + row * 16, largestOf(scoresOf(row), end));
        }
        const F16 before = loadRest(largest + first, count), sumBefore = loadRest(sums + first, count);
        const F16 now = larger(acrossLanes(parts, count, larger) * tile.scale, before);
        const F16 correction = exponential(before - now);
        store(shifts, now);
        store(corrections, correction);
        for (std::size_t row = 0; row < count; ++row) {
            if (largest[first + row] != -kInfinity && corrections[row] != 1)
                scaleRow(y + (first + row) * yStride, width, corrections[row]);
            const float* scores = scoresOf(row);
            T* weights = reinterpret_cast<T*>(scoresOf(row));
            const F16 shift = splat(shifts[row]);
            F16 sum{};
            for (std::size_t i = 0; i < end; i += 16) {
                const F16 p = exponential(load(scores + i) * tile.scale - shift);
                store(weights + i, p);
                sum += p;
            }
            store(parts + row * 16, sum);
        }
        const auto add = [](F16 a, F16 b) { return a + b; };
        storeRest(largest + first, now, count);
        storeRest(sums + first, sumBefore * correction + acrossLanes(parts, count, add), count);
    }
}
template void softmaxTile<float>(const ScoreTile&, float*, float*, float*, std::size_t, std::size_t);
template void softmaxTile<Bf16>(const ScoreTile&, float*, float*, float*, std::size_t, std::size_t);

template <class T>
void softmaxTileBackward(const ScoreTile& tile, const float* logSumExp, const float* inner, float* gradients) {
    const std::size_t end = wholeColumns(tile);
    for (std::size_t row = 0; row < tile.rows; ++row) {
        hide(tile, row);
        const float* scores = tile.scores + row * tile.stride;
        float* gradient = gradients + row * tile.stride;
        for (std::size_t i = tile.columns; i < end; ++i) gradient[i] = 0;
        T *weights = reinterpret_cast<T*>(tile.scores + row * tile.stride), *out = reinterpret_cast<T*>(gradient);
        const F16 shift = splat(logSumExp[row]), mean = splat(inner[row]);
        for (std::size_t i = 0; i < end; i += 16) {
            const F16 p = exponential(load(scores + i) * tile.scale - shift);
            store(weights + i, p);
            store(out + i, (load(gradient + i) - mean) * p * tile.scale);
        }
    }
}
template void softmaxTileBackward<float>(const ScoreTile&, const float*, const float*, float*);
template void softmaxTileBackward<Bf16>(const ScoreTile&, const float*, const float*, float*);

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
