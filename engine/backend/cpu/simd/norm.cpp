#include "engine/backend/cpu/simd/lanes.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

// Floats are summed in four chains of at most this many before they go on in double.
constexpr std::size_t kChunk = 256 * 16;

[[gnu::always_inline]] inline void addTo(double* sum, F16 value) {
    Rest rest;
    store(rest.lane, value);
    for (int lane = 0; lane < 16; ++lane) sum[lane] += rest.lane[lane];
}

[[gnu::always_inline]] inline void momentsOf(const float* x, std::size_t count, F16 shift, double* sum,
                                             double* square) {
    F16 s0{}, s1{}, q0{}, q1{};
    std::size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        const F16 u = load(x + i) - shift, v = load(x + i + 16) - shift;
        s0 += u;
        s1 += v;
        q0 += u * u;
        q1 += v * v;
    }
    if (i < count) {
        const F16 u = load(x + i) - shift;
        s0 += u;
        q0 += u * u;
    }
    addTo(sum, s0 + s1);
    addTo(square, q0 + q1);
}

}  // namespace

void moments(const float* x, std::size_t count, const float* shift, double* sum, double* square) {
    const F16 k = load(shift);
    const std::size_t whole = count / 16 * 16;
    for (std::size_t i = 0; i < whole; i += kChunk)
        momentsOf(x + i, whole - i < kChunk ? whole - i : kChunk, k, sum, square);
    if (whole == count) return;
    Rest rest;
    store(rest.lane, k);
    for (std::size_t i = whole; i < count; ++i) rest.lane[i - whole] = x[i];
    momentsOf(rest.lane, 16, k, sum, square);
}

void sum(const float* x, std::size_t count, double* sums) {
    const std::size_t whole = count / 16 * 16;
    for (std::size_t i = 0; i < whole; i += kChunk) {
        const std::size_t end = whole - i < kChunk ? whole : i + kChunk;
        F16 total{};
        for (std::size_t j = i; j < end; j += 16) total += load(x + j);
        addTo(sums, total);
    }
    for (std::size_t i = whole; i < count; ++i) sums[i - whole] += x[i];
}

namespace {

template <int kResidual, bool kRelu>
void normWhole(const NormRun& run) {
    const F16 mean = load(run.mean), scale = load(run.scale), offset = load(run.offset);
    const F16 mean2 = kResidual == 2 ? load(run.mean2) : F16{}, scale2 = kResidual == 2 ? load(run.scale2) : F16{};
    for (std::size_t i = 0; i < run.count; i += 16) {
        F16 y = (load(run.x + i) - mean) * scale + offset;
        if constexpr (kResidual == 1) y += load(run.r + i);
        if constexpr (kResidual == 2) y += (load(run.r + i) - mean2) * scale2;
        store(run.y + i, kRelu ? positive(y) : y);
    }
}

template <int kResidual, bool kRelu>
void normRun(const NormRun& run) {
    const std::size_t whole = run.count / 16 * 16, left = run.count - whole;
    NormRun part = run;
    part.count = whole;
    normWhole<kResidual, kRelu>(part);
    if (left == 0) return;
    const Rest x(run.x + whole, left);
    Rest r, y;
    if constexpr (kResidual != 0) r = Rest(run.r + whole, left);
    part.x = x.lane;
    part.r = r.lane;
    part.y = y.lane;
    part.count = 16;
    normWhole<kResidual, kRelu>(part);
    y.copyTo(run.y + whole, left);
}

template <GradMask kMask, bool kPair>
[[gnu::always_inline]] inline F16 gradient(const GradRun& run, std::size_t i, F16 centred, F16 scale, F16 offset) {
    F16 g = load(run.g1 + i);
    if constexpr (kPair) g += load(run.g2 + i);
    if constexpr (kMask == GradMask::FromOutput) g = select(load(run.z + i) > F16{}, g, F16{});
    // The same expression as in normWhole, so that the mask is exactly the one of the forward pass.
    if constexpr (kMask == GradMask::Recomputed) g = select(centred * scale + offset > F16{}, g, F16{});
    return g;
}

template <GradMask kMask, bool kPair, bool kSecond>
void gradSumsWhole(const GradRun& run, const GradSums& sums) {
    const F16 mean = load(run.mean), mean2 = kSecond ? load(run.mean2) : F16{};
    const F16 scale = load(run.scale), offset = kMask == GradMask::Recomputed ? load(run.offset) : F16{};
    for (std::size_t begin = 0; begin < run.count; begin += kChunk) {
        const std::size_t end = run.count - begin < kChunk ? run.count : begin + kChunk;
        F16 s{}, q{}, r{};
        for (std::size_t i = begin; i < end; i += 16) {
            const F16 centred = load(run.x + i) - mean;
            const F16 g = gradient<kMask, kPair>(run, i, centred, scale, offset);
            s += g;
            q += g * centred;
            if constexpr (kSecond) r += g * (load(run.x2 + i) - mean2);
        }
        addTo(sums.s, s);
        addTo(sums.q, q);
        if constexpr (kSecond) addTo(sums.r, r);
    }
}

template <GradMask kMask, bool kPair, GradOther kOther>
void gradApplyWhole(const GradRun& run) {
    const F16 mean = load(run.mean), scale = load(run.scale), slope = load(run.slope), shift = load(run.shift);
    const F16 offset = kMask == GradMask::Recomputed ? load(run.offset) : F16{};
    constexpr bool kNorm = kOther == GradOther::Norm;
    const F16 mean2 = kNorm ? load(run.mean2) : F16{}, scale2 = kNorm ? load(run.scale2) : F16{};
    const F16 slope2 = kNorm ? load(run.slope2) : F16{}, shift2 = kNorm ? load(run.shift2) : F16{};
    for (std::size_t i = 0; i < run.count; i += 16) {
        const F16 centred = load(run.x + i) - mean;
        const F16 g = gradient<kMask, kPair>(run, i, centred, scale, offset);
        if constexpr (kOther == GradOther::Kept) store(run.out + i, g);
        if constexpr (kNorm) store(run.out + i, g * scale2 + ((load(run.x2 + i) - mean2) * slope2 + shift2));
        F16 dx = g * scale + (centred * slope + shift);
        if constexpr (kOther == GradOther::Added) dx += load(run.x2 + i);
        store(run.dx + i, dx);
    }
}

// The rest of a run in places of its own; gradients are zero behind its end.
struct GradRest {
    Rest g1, g2, x, z, x2, out, dx;

    GradRest(const GradRun& run, std::size_t at, std::size_t left) {
        const auto take = [&](Rest& rest, const float* from) {
            if (from) rest = Rest(from + at, left);
        };
        take(g1, run.g1);
        take(g2, run.g2);
        take(x, run.x);
        take(z, run.z);
        take(x2, run.x2);
    }
    GradRun over(const GradRun& run) {
        GradRun part = run;
        part.g1 = g1.lane;
        part.g2 = g2.lane;
        part.x = x.lane;
        part.z = z.lane;
        part.x2 = x2.lane;
        part.out = out.lane;
        part.dx = dx.lane;
        part.count = 16;
        return part;
    }
};

template <GradMask kMask, bool kPair, bool kSecond>
void gradSumsRun(const GradRun& run, const GradSums& sums) {
    const std::size_t whole = run.count / 16 * 16, left = run.count - whole;
    GradRun part = run;
    part.count = whole;
    gradSumsWhole<kMask, kPair, kSecond>(part, sums);
    if (left == 0) return;
    GradRest rest(run, whole, left);
    gradSumsWhole<kMask, kPair, kSecond>(rest.over(run), sums);
}

template <GradMask kMask, bool kPair, GradOther kOther>
void gradApplyRun(const GradRun& run) {
    const std::size_t whole = run.count / 16 * 16, left = run.count - whole;
    GradRun part = run;
    part.count = whole;
    gradApplyWhole<kMask, kPair, kOther>(part);
    if (left == 0) return;
    GradRest rest(run, whole, left);
    gradApplyWhole<kMask, kPair, kOther>(rest.over(run));
    rest.dx.copyTo(run.dx + whole, left);
    if constexpr (kOther == GradOther::Kept || kOther == GradOther::Norm) rest.out.copyTo(run.out + whole, left);
}

template <GradMask kMask, bool kPair>
void gradApplyOther(const GradRun& run, GradOther other) {
    switch (other) {
        case GradOther::None: return gradApplyRun<kMask, kPair, GradOther::None>(run);
        case GradOther::Kept: return gradApplyRun<kMask, kPair, GradOther::Kept>(run);
        case GradOther::Norm: return gradApplyRun<kMask, kPair, GradOther::Norm>(run);
        case GradOther::Added: return gradApplyRun<kMask, kPair, GradOther::Added>(run);
    }
}

template <GradMask kMask>
void gradSumsMasked(const GradRun& run, const GradSums& sums, bool pair, bool second) {
    if (pair) return second ? gradSumsRun<kMask, true, true>(run, sums) : gradSumsRun<kMask, true, false>(run, sums);
    return second ? gradSumsRun<kMask, false, true>(run, sums) : gradSumsRun<kMask, false, false>(run, sums);
}

template <GradMask kMask>
void gradApplyMasked(const GradRun& run, bool pair, GradOther other) {
    return pair ? gradApplyOther<kMask, true>(run, other) : gradApplyOther<kMask, false>(run, other);
}

}  // namespace

void norm(const NormRun& run, int residual, bool relu) {
    if (residual == 0) return relu ? normRun<0, true>(run) : normRun<0, false>(run);
    if (residual == 1) return relu ? normRun<1, true>(run) : normRun<1, false>(run);
    return relu ? normRun<2, true>(run) : normRun<2, false>(run);
}

void gradSums(const GradRun& run, const GradSums& sums, GradMask mask, bool pair, bool second) {
    switch (mask) {
        case GradMask::None: return gradSumsMasked<GradMask::None>(run, sums, pair, second);
        case GradMask::Recomputed: return gradSumsMasked<GradMask::Recomputed>(run, sums, pair, second);
        case GradMask::FromOutput: return gradSumsMasked<GradMask::FromOutput>(run, sums, pair, second);
    }
}

void gradApply(const GradRun& run, GradMask mask, bool pair, GradOther other) {
    switch (mask) {
        case GradMask::None: return gradApplyMasked<GradMask::None>(run, pair, other);
        case GradMask::Recomputed: return gradApplyMasked<GradMask::Recomputed>(run, pair, other);
        case GradMask::FromOutput: return gradApplyMasked<GradMask::FromOutput>(run, pair, other);
    }
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
