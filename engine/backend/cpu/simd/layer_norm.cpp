#include "engine/backend/cpu/simd/elements.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

// body(i, load, store) for the blocks of a row; the last one may be shorter.
template <class Body>
[[gnu::always_inline]] inline void forEachBlock(std::size_t width, Body body) {
    std::size_t i = 0;
    const auto loadWhole = [](const auto* at, float) { return load(at); };
    const auto storeWhole = [](auto* at, F16 value) { store(at, value); };
    for (; i + 16 <= width; i += 16) body(i, loadWhole, storeWhole);
    if (i == width) return;
    const std::size_t left = width - i;
    const auto loadLeft = [left](const auto* at, float fill) { return loadRest(at, left, fill); };
    const auto storeLeft = [left](auto* at, F16 value) { storeRest(at, value, left); };
    body(i, loadLeft, storeLeft);
}

template <class T>
void forwardRow(const LayerNormRunOf<T>& run, std::size_t row) {
    const T* x = run.x + row * run.width;
    T* y = run.y + row * run.width;
    const auto width = static_cast<float>(run.width);
    F16 sums{}, squares{};
    forEachBlock(run.width, [&](std::size_t i, auto get, auto) { sums += get(x + i, 0.0f); });
    const float mean = total(sums) / width;
    forEachBlock(run.width, [&](std::size_t i, auto get, auto) {
        const F16 centred = get(x + i, mean) - splat(mean);
        squares += centred * centred;
    });
    const float invStd = 1 / __builtin_sqrtf(total(squares) / width + run.epsilon);
    forEachBlock(run.width, [&](std::size_t i, auto get, auto put) {
        const F16 normalized = (get(x + i, 0.0f) - splat(mean)) * invStd;
        put(y + i, normalized * get(run.gamma + i, 0.0f) + get(run.beta + i, 0.0f));
    });
    run.mean[row] = mean;
    run.invStd[row] = invStd;
}

// Behind the end of a row dy counts as zero, and with it all that is summed.
template <class T>
void backwardRow(const LayerNormBackwardRunOf<T>& run, std::size_t row) {
    const T *x = run.x + row * run.width, *dy = run.dy + row * run.width;
    const T* addends = run.addends ? run.addends + row * run.width : nullptr;
    T* dx = run.dx + row * run.width;
    const F16 mean = splat(run.mean[row]);
    const float invStd = run.invStd[row], width = static_cast<float>(run.width);
    F16 sums{}, dots{};
    forEachBlock(run.width, [&](std::size_t i, auto get, auto) {
        const F16 g = get(run.gamma + i, 0.0f) * get(dy + i, 0.0f);
        sums += g;
        dots += g * ((get(x + i, 0.0f) - mean) * invStd);
    });
    const F16 sum = splat(total(sums) / width), dot = splat(total(dots) / width);
    forEachBlock(run.width, [&](std::size_t i, auto get, auto put) {
        const F16 normalized = (get(x + i, 0.0f) - mean) * invStd, gradient = get(dy + i, 0.0f);
        put(run.dgamma + i, get(run.dgamma + i, 0.0f) + gradient * normalized);
        put(run.dbeta + i, get(run.dbeta + i, 0.0f) + gradient);
        F16 result = (gradient * get(run.gamma + i, 0.0f) - sum - normalized * dot) * invStd;
        if (addends) result += get(addends + i, 0.0f);
        put(dx + i, result);
    });
}

}  // namespace

template <class T>
void layerNorm(const LayerNormRunOf<T>& run) {
    for (std::size_t row = 0; row < run.rows; ++row) forwardRow(run, row);
}

template <class T>
void layerNormBackward(const LayerNormBackwardRunOf<T>& run) {
    for (std::size_t row = 0; row < run.rows; ++row) backwardRow(run, row);
}

template void layerNorm(const LayerNormRunOf<float>&);
template void layerNormBackward(const LayerNormBackwardRunOf<float>&);

template void layerNorm(const LayerNormRunOf<Bf16>&);
template void layerNormBackward(const LayerNormBackwardRunOf<Bf16>&);

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
