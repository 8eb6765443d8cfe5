#include "engine/backend/cpu/simd/elements.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

constexpr float kInfinity = __builtin_inff();

// What a row does not see, and what fills its last block, weighs nothing.
void hide(const ScoreTile& tile, std::size_t row) {
    const std::size_t end = (tile.columns + 15) / 16 * 16;
    const auto columns = static_cast<std::ptrdiff_t>(tile.columns), seen = tile.seen + static_cast<std::ptrdiff_t>(row);
    const std::ptrdiff_t begin = seen < 0 ? 0 : seen < columns ? seen : columns;
    for (auto i = static_cast<std::size_t>(begin); i < end; ++i) tile.scores[row * tile.stride + i] = -kInfinity;
}

float largestOf(const float* scores, std::size_t columns) {
    F16 largest = splat(-kInfinity);
    for (std::size_t i = 0; i < columns; i += 16) {
        const F16 score = load(scores + i);
        largest = select(score > largest, score, largest);
    }
    Rest rest;
    store(rest.lane, largest);
    float result = rest.lane[0];
    for (const float lane : rest.lane) result = lane > result ? lane : result;
    return result;
}

void scaleRow(float* y, std::size_t width, float factor) {
    std::size_t i = 0;
    for (; i + 16 <= width; i += 16) store(y + i, load(y + i) * factor);
    for (; i < width; ++i) y[i] *= factor;
}

float exponentialOf(float x) {
    Rest rest;
    store(rest.lane, exponential(splat(x)));
    return rest.lane[0];
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

void softmaxTile(const ScoreTile& tile, float* largest, float* sums, float* y, std::size_t yStride, std::size_t width) {
    for (std::size_t row = 0; row < tile.rows; ++row) {
        hide(tile, row);
        float* scores = tile.scores + row * tile.stride;
        const float before = largest[row], here = largestOf(scores, tile.columns) * tile.scale;
        const float now = here > before ? here : before;
        const F16 shift = splat(now);
        F16 sum{};
        for (std::size_t i = 0; i < tile.columns; i += 16) {
            const F16 p = exponential(load(scores + i) * tile.scale - shift);
            store(scores + i, p);
            sum += p;
        }
        const bool isFirst = before == -kInfinity;
        const float correction = isFirst ? 0 : exponentialOf(before - now);
        if (!isFirst && now != before) scaleRow(y + row * yStride, width, correction);
        sums[row] = (isFirst ? 0 : sums[row] * correction) + total(sum);
        largest[row] = now;
    }
}

void softmaxTileBackward(const ScoreTile& tile, const float* logSumExp, const float* inner, float* gradients) {
    for (std::size_t row = 0; row < tile.rows; ++row) {
        hide(tile, row);
        float *scores = tile.scores + row * tile.stride, *gradient = gradients + row * tile.stride;
        const F16 shift = splat(logSumExp[row]), mean = splat(inner[row]);
        for (std::size_t i = 0; i < tile.columns; i += 16) {
            const F16 p = exponential(load(scores + i) * tile.scale - shift);
            store(scores + i, p);
            store(gradient + i, (load(gradient + i) - mean) * p * tile.scale);
        }
    }
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
