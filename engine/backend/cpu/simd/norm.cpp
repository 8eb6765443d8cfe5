#include "engine/backend/cpu/simd/halves.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

// Floats are summed over at most this many of a channel block before they go on in double.
constexpr std::size_t kChunk = 256 * 16;

[[gnu::always_inline]] inline void addTo(double* sum, F16 value) {
    Rest rest;
    store(rest.lane, value);
    for (int lane = 0; lane < 16; ++lane) sum[lane] += rest.lane[lane];
}

// body(block, element, pixels, stride): of each block some pixels, the first of which is that element. Where pixels lie
// side by side there is one block, which is gone through at once. Else all blocks of a few pixels come before those of
// the next: as far apart as makes each a stream of its own for the processor, which follows one in a page of memory,
// and as meets in no set of a cache.
template <class T, class Run, class Body>
[[gnu::always_inline]] inline void overBlocks(const Run& run, std::size_t begin, std::size_t end, const Body& body) {
    constexpr std::size_t kAtOnce = 4, kPixel = 16;
    const std::size_t pixels = (end - begin) / kPixel;
    if (!kIsHalf<T> || run.step == kPixel) return body(std::size_t{0}, begin, pixels, kPixel);
    if constexpr (kIsHalf<T>) {
        const std::size_t each = pixels / kAtOnce, apart = each - (each > 0 && each % 2 == 0);
        const auto some = [&](std::size_t pixel, auto count) __attribute__((always_inline)) {
            for (std::size_t block = 0; block < run.blocks; ++block)
                body(block, (begin / kPixel + pixel) * run.step + block * kPixel, count.value, apart * run.step);
        };
        for (std::size_t pixel = 0; pixel < apart; ++pixel) some(pixel, Index<kAtOnce>{});
        for (std::size_t pixel = apart * kAtOnce; pixel < pixels; ++pixel) some(pixel, Index<1>{});
    }
}

// Sums of floats of each block, which then go on in double.
struct BlockSums {
    alignas(64) float lanes[kMostBlocks * 16];

    explicit BlockSums(std::size_t blocks) {
        for (std::size_t block = 0; block < blocks; ++block) store(at(block), F16{});
    }
    float* at(std::size_t block) { return lanes + block * 16; }
    void goOnIn(double* sums, std::size_t apart, std::size_t blocks) {
        for (std::size_t block = 0; block < blocks; ++block) addTo(sums + block * apart, load(at(block)));
    }
};

template <class T>
void momentsOfChunk(const MomentsRunOf<T>& run, std::size_t begin, std::size_t end, const MomentSums& sums) {
    BlockSums sum(run.blocks), square(run.blocks);
    overBlocks<T>(
        run, begin, end,
        [&](std::size_t block, std::size_t at, std::size_t pixels, std::size_t stride) __attribute__((always_inline)) {
            const F16 shift = load(run.shift + block * run.apart);
            F16 s0 = load(sum.at(block)), q0 = load(square.at(block)), s1{}, q1{};
            std::size_t i = 0;
            for (; i + 2 <= pixels; i += 2, at += 2 * stride) {
                const F16 u = load(run.x + at) - shift, v = load(run.x + at + stride) - shift;
                s0 += u;
                s1 += v;
                q0 += u * u;
                q1 += v * v;
            }
            if (i < pixels) {
                const F16 u = load(run.x + at) - shift;
                s0 += u;
                q0 += u * u;
            }
            store(sum.at(block), s0 + s1);
            store(square.at(block), q0 + q1);
        });
    sum.goOnIn(sums.sum, sums.apart, run.blocks);
    square.goOnIn(sums.square, sums.apart, run.blocks);
}

}  // namespace

template <class T>
void moments(const MomentsRunOf<T>& given, const MomentSums& sums) {
    const MomentsRunOf<T> run = given;  // of its own, which nothing that is stored can change
    const std::size_t whole = run.count / 16 * 16;
    for (std::size_t i = 0; i < whole; i += kChunk)
        momentsOfChunk(run, i, whole - i < kChunk ? whole : i + kChunk, sums);
    if constexpr (!kIsHalf<T>) {
        if (whole == run.count) return;
        Rest rest;
        store(rest.lane, load(run.shift));
        for (std::size_t i = whole; i < run.count; ++i) rest.lane[i - whole] = run.x[i];
        MomentsRunOf<T> last = run;
        last.x = rest.lane;
        momentsOfChunk(last, 0, 16, sums);
    }
}

template <class T>
void sum(const T* x, std::size_t count, std::size_t step, double* sums) {
    const std::size_t whole = count / 16 * 16;
    for (std::size_t i = 0; i < whole; i += kChunk) {
        const std::size_t end = whole - i < kChunk ? whole : i + kChunk;
        F16 total{};
        for (std::size_t j = i; j < end; j += 16) total += load(x + place<T>(j, step));
        addTo(sums, total);
    }
    if constexpr (!kIsHalf<T>) {
        for (std::size_t i = whole; i < count; ++i) sums[i - whole] += x[i];
    }
}

namespace {

template <int kResidual, bool kRelu, class T>
void normWhole(const NormRunOf<T>& given) {
    const NormRunOf<T> run = given;
    overBlocks<T>(
        run, 0, run.count,
        [&](std::size_t block, std::size_t at, std::size_t pixels, std::size_t stride) __attribute__((always_inline)) {
            const auto pattern = [&](const float* first) { return load(first + block * run.apart); };
            const F16 mean = pattern(run.mean), scale = pattern(run.scale), offset = pattern(run.offset);
            const F16 mean2 = kResidual == 2 ? pattern(run.mean2) : F16{};
            const F16 scale2 = kResidual == 2 ? pattern(run.scale2) : F16{};
            for (std::size_t i = 0; i < pixels; ++i, at += stride) {
                F16 y = (load(run.x + at) - mean) * scale + offset;
                if constexpr (kResidual == 1) y += load(run.r + at);
                if constexpr (kResidual == 2) y += (load(run.r + at) - mean2) * scale2;
                store(run.y + at, kRelu ? positive(y) : y);
            }
        });
}

template <int kResidual, bool kRelu>
void normRun(const NormRunOf<Bf16>& run) {
    normWhole<kResidual, kRelu>(run);
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

template <GradMask kMask, bool kPair, class T>
[[gnu::always_inline]] inline F16 gradient(const GradRunOf<T>& run, std::size_t at, F16 centred, F16 scale,
                                           F16 offset) {
    F16 g = load(run.g1 + at);
    if constexpr (kPair) g += load(run.g2 + at);
    if constexpr (kMask == GradMask::FromOutput) g = select(load(run.z + at) > F16{}, g, F16{});
    // The same expression as in normWhole, so that the mask is exactly the one of the forward pass.
    if constexpr (kMask == GradMask::Recomputed) g = select(centred * scale + offset > F16{}, g, F16{});
    return g;
}

template <GradMask kMask, bool kPair, GradOther kOther, class T>
void gradSumsOfChunk(const GradRunOf<T>& run, std::size_t begin, std::size_t end, const GradSums& sums) {
    constexpr bool kSecond = kOther == GradOther::Norm, kKeeps = kSecond || kOther == GradOther::Kept;
    BlockSums s(run.blocks), q(run.blocks), r(kSecond ? run.blocks : 0);
    overBlocks<T>(
        run, begin, end,
        [&](std::size_t block, std::size_t at, std::size_t pixels, std::size_t stride) __attribute__((always_inline)) {
            const auto pattern = [&](const float* first) { return load(first + block * run.apart); };
            const F16 mean = pattern(run.mean), mean2 = kSecond ? pattern(run.mean2) : F16{};
            constexpr bool kRecomputes = kMask == GradMask::Recomputed;
            const F16 scale = kRecomputes ? pattern(run.scale) : F16{},
                      offset = kRecomputes ? pattern(run.offset) : F16{};
            F16 sumS = load(s.at(block)), sumQ = load(q.at(block)), sumR = kSecond ? load(r.at(block)) : F16{};
            for (std::size_t i = 0; i < pixels; ++i, at += stride) {
                const F16 centred = load(run.x + at) - mean;
                F16 g = gradient<kMask, kPair>(run, at, centred, scale, offset);
                if constexpr (kKeeps) {
                    store(run.out + at, g);
                    if constexpr (kIsHalf<T>) g = load(run.out + at);
                }
                sumS += g;
                sumQ += g * centred;
                if constexpr (kSecond) sumR += g * (load(run.x2 + at) - mean2);
            }
            store(s.at(block), sumS);
            store(q.at(block), sumQ);
            if constexpr (kSecond) store(r.at(block), sumR);
        });
    s.goOnIn(sums.s, sums.apart, run.blocks);
    q.goOnIn(sums.q, sums.apart, run.blocks);
    if constexpr (kSecond) r.goOnIn(sums.r, sums.apart, run.blocks);
}

template <GradMask kMask, bool kPair, GradOther kOther, class T>
void gradSumsWhole(const GradRunOf<T>& given, const GradSums& sums) {
    const GradRunOf<T> run = given;
    for (std::size_t i = 0; i < run.count; i += kChunk)
        gradSumsOfChunk<kMask, kPair, kOther>(run, i, run.count - i < kChunk ? run.count : i + kChunk, sums);
}

template <GradMask kMask, bool kPair, GradOther kOther, class T>
void gradApplyWhole(const GradRunOf<T>& given) {
    const GradRunOf<T> run = given;
    overBlocks<T>(
        run, 0, run.count,
        [&](std::size_t block, std::size_t at, std::size_t pixels, std::size_t stride) __attribute__((always_inline)) {
            const auto pattern = [&](const float* first) { return load(first + block * run.apart); };
            constexpr bool kNorm = kOther == GradOther::Norm;
            const F16 mean = pattern(run.mean), scale = pattern(run.scale);
            const F16 slope = pattern(run.slope), shift = pattern(run.shift);
            const F16 offset = kMask == GradMask::Recomputed ? pattern(run.offset) : F16{};
            const F16 mean2 = kNorm ? pattern(run.mean2) : F16{}, scale2 = kNorm ? pattern(run.scale2) : F16{};
            const F16 slope2 = kNorm ? pattern(run.slope2) : F16{}, shift2 = kNorm ? pattern(run.shift2) : F16{};
            for (std::size_t i = 0; i < pixels; ++i, at += stride) {
                const F16 centred = load(run.x + at) - mean;
                const F16 g = gradient<kMask, kPair>(run, at, centred, scale, offset);
                if constexpr (kNorm) store(run.out + at, g * scale2 + ((load(run.x2 + at) - mean2) * slope2 + shift2));
                F16 dx = g * scale + (centred * slope + shift);
                if constexpr (kOther == GradOther::Added) dx += load(run.x2 + at);
                store(run.dx + at, dx);
            }
        });
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

template <GradMask kMask, bool kPair, GradOther kOther>
void gradSumsRun(const GradRunOf<Bf16>& run, const GradSums& sums) {
    gradSumsWhole<kMask, kPair, kOther>(run, sums);
}

template <GradMask kMask, bool kPair, GradOther kOther>
void gradSumsRun(const GradRun& run, const GradSums& sums) {
    const std::size_t whole = run.count / 16 * 16, left = run.count - whole;
    GradRun part = run;
    part.count = whole;
    gradSumsWhole<kMask, kPair, kOther>(part, sums);
    if (left == 0) return;
    GradRest rest(run, whole, left);
    gradSumsWhole<kMask, kPair, kOther>(rest.over(run), sums);
    if constexpr (kOther == GradOther::Kept || kOther == GradOther::Norm) rest.out.copyTo(run.out + whole, left);
}

template <GradMask kMask, bool kPair, GradOther kOther>
void gradApplyRun(const GradRunOf<Bf16>& run) {
    gradApplyWhole<kMask, kPair, kOther>(run);
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
    if constexpr (kOther == GradOther::Norm) rest.out.copyTo(run.out + whole, left);
}

template <GradMask kMask, bool kPair, class T>
void gradSumsOther(const GradRunOf<T>& run, const GradSums& sums, GradOther other) {
    switch (other) {
        case GradOther::None:
        case GradOther::Added: return gradSumsRun<kMask, kPair, GradOther::None>(run, sums);
        case GradOther::Kept: return gradSumsRun<kMask, kPair, GradOther::Kept>(run, sums);
        case GradOther::Norm: return gradSumsRun<kMask, kPair, GradOther::Norm>(run, sums);
    }
}

template <GradMask kMask, bool kPair, class T>
void gradApplyOther(const GradRunOf<T>& run, bool adds) {
    adds ? gradApplyRun<kMask, kPair, GradOther::Added>(run) : gradApplyRun<kMask, kPair, GradOther::None>(run);
}

template <GradMask kMask, class T>
void gradSumsMasked(const GradRunOf<T>& run, const GradSums& sums, bool pair, GradOther other) {
    pair ? gradSumsOther<kMask, true>(run, sums, other) : gradSumsOther<kMask, false>(run, sums, other);
}

template <GradMask kMask, class T>
void gradApplyMasked(const GradRunOf<T>& run, bool pair, GradOther other) {
    const bool adds = other == GradOther::Added;
    pair ? gradApplyOther<kMask, true>(run, adds) : gradApplyOther<kMask, false>(run, adds);
}

}  // namespace

template <class T>
void norm(const NormRunOf<T>& run, int residual, bool relu) {
    if (residual == 0) return relu ? normRun<0, true>(run) : normRun<0, false>(run);
    if (residual == 1) return relu ? normRun<1, true>(run) : normRun<1, false>(run);
    return relu ? normRun<2, true>(run) : normRun<2, false>(run);
}

template <class T>
void gradSums(const GradRunOf<T>& run, const GradSums& sums, GradMask mask, bool pair, GradOther other) {
    switch (mask) {
        case GradMask::None: return gradSumsMasked<GradMask::None>(run, sums, pair, other);
        case GradMask::Recomputed: return gradSumsMasked<GradMask::Recomputed>(run, sums, pair, other);
        case GradMask::FromOutput: return gradSumsMasked<GradMask::FromOutput>(run, sums, pair, other);
    }
}

template <class T>
void gradApply(const GradRunOf<T>& run, GradMask mask, bool pair, GradOther other) {
    if (other == GradOther::Kept || other == GradOther::Norm) {
        GradRunOf<T> kept = run;
        kept.g1 = run.out;
        if (other == GradOther::Kept) return gradApplyRun<GradMask::None, false, GradOther::None>(kept);
        return gradApplyRun<GradMask::None, false, GradOther::Norm>(kept);
    }
    switch (mask) {
        case GradMask::None: return gradApplyMasked<GradMask::None>(run, pair, other);
        case GradMask::Recomputed: return gradApplyMasked<GradMask::Recomputed>(run, pair, other);
        case GradMask::FromOutput: return gradApplyMasked<GradMask::FromOutput>(run, pair, other);
    }
}

template void moments(const MomentsRunOf<float>&, const MomentSums&);
template void sum(const float*, std::size_t, std::size_t, double*);
template void norm(const NormRunOf<float>&, int, bool);
template void gradSums(const GradRunOf<float>&, const GradSums&, GradMask, bool, GradOther);
template void gradApply(const GradRunOf<float>&, GradMask, bool, GradOther);

template void moments(const MomentsRunOf<Bf16>&, const MomentSums&);
template void sum(const Bf16*, std::size_t, std::size_t, double*);
template void norm(const NormRunOf<Bf16>&, int, bool);
template void gradSums(const GradRunOf<Bf16>&, const GradSums&, GradMask, bool, GradOther);
template void gradApply(const GradRunOf<Bf16>&, GradMask, bool, GradOther);

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
