#include <immintrin.h>

#include "engine/backend/cpu/simd/block_tile.h"
#include "engine/backend/cpu/simd/gemm_tile.h"
#include "engine/backend/cpu/simd/halves.h"

// Compiled once, with the instructions that it is made of.
namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

// Sixteen pairs: each sum gets two products.
struct PairLanes {
    using Sums = F16;
    static constexpr std::size_t kLanes = 16, kOfBlock = 8;

    [[gnu::always_inline]] static I16 load(const float* at) { return get<I16>(at); }
    [[gnu::always_inline]] static I16 splat(const float* at) { return Splat<I16>::of(get<std::int32_t>(at)); }
    [[gnu::always_inline]] static F16 add(F16 sum, I16 a, I16 b) {
        return (F16)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
    }
};

// Of two rows of sixteen bf16, one behind the other. The element of the even depth is the lower half of its pair.
[[gnu::always_inline]] inline __m512i pairsOf(__m512i rows) {
    const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                                           21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_permutexvar_epi16(order, rows);
}
[[gnu::always_inline]] inline __m512i pairsOf(F16 even, F16 odd) {
    return pairsOf((__m512i)_mm512_cvtne2ps_pbh((__m512)odd, (__m512)even));
}

// What is written lies before all that is still to be read.
void toPairs(float* panels, std::size_t count, std::size_t width, std::size_t depth) {
    const float* from = panels;
    for (; count > 0; --count) {
        for (std::size_t k = 0; k < depth; k += 2) {
            const bool isWhole = k + 1 < depth;
            for (std::size_t j = 0; j < width; j += 16) {
                const auto lanes = static_cast<__mmask16>(width - j < 16 ? (1u << (width - j)) - 1 : 0xffff);
                const __m512 even = _mm512_maskz_loadu_ps(lanes, from + j);
                const __m512 odd = _mm512_maskz_loadu_ps(isWhole ? lanes : 0, from + width + j);
                _mm512_mask_storeu_epi32(panels + j, lanes, pairsOf((F16)even, (F16)odd));
            }
            from += isWhole ? 2 * width : width;
            panels += width;
        }
    }
}

struct Plain {
    template <class T>
    [[gnu::always_inline]] F16 operator()(const T* at) const {
        return load(at);
    }
};

struct Normed {
    const ChannelAffine& norm;

    template <class T>
    [[gnu::always_inline]] F16 operator()(const T* at) const {
        return positive((load(at) - load(norm.mean)) * load(norm.scale) + load(norm.offset));
    }
};

template <class T, class Read>
[[gnu::always_inline]] inline void pairRowsOf(const Read& read, const T* from, float* to, std::size_t rows) {
    for (std::size_t k = 0; k < rows; k += 2, from += 32, to += 16)
        put(to, pairsOf(read(from), k + 1 < rows ? read(from + 16) : F16{}));
}

template <class T, class Read>
[[gnu::always_inline]] inline void pairColumnsOf(const Read& read, const T* from, float* to, std::size_t rows) {
    for (; rows >= 2; rows -= 2, from += 32, to += 16)
        put(to, (__m512i)_mm512_cvtne2ps_pbh((__m512)read(from + 16), (__m512)read(from)));
    if (rows > 0) put(to, (__m256i)_mm512_cvtneps_pbh((__m512)read(from)));
}

template <class T>
void pairRows(const T* from, const ChannelAffine* norm, float* to, std::size_t rows) {
    if (norm) return pairRowsOf(Normed{*norm}, from, to, rows);
    if constexpr (kIsHalf<T>) {
        for (; rows >= 2; rows -= 2, from += 32, to += 16) put(to, pairsOf(get<__m512i>(from)));
    }
    pairRowsOf(Plain(), from, to, rows);
}

template <class T>
void pairColumns(const T* from, const ChannelAffine* norm, float* to, std::size_t rows) {
    if (norm) return pairColumnsOf(Normed{*norm}, from, to, rows);
    pairColumnsOf(Plain(), from, to, rows);
}

void gemm(const GemmRun& run) { tiles<PairLanes, kRows, true>(run); }

void gemmRows(const GemmRun& run, std::size_t panelStride) {
    constexpr std::size_t kColumns = kVectors * 16;
    GemmRun panel = run;
    for (std::size_t column = 0; column < run.columns; column += kColumns) {
        panel.columns = run.columns - column < kColumns ? run.columns - column : kColumns;
        for (std::size_t part = 0; part < run.partCount; ++part) {
            panel.a = run.a + run.parts[part].a;
            panel.panel = run.panel + column / kColumns * panelStride + run.parts[part].panel;
            panel.adds = run.adds || part > 0;
            tiles<PairLanes, kStridedRows, false>(panel);
        }
        panel.c += kColumns;
    }
}

template <class T>
void blockProduct(const BlockProductOf<T>& run) {
    productBlocks<PairLanes, kBlocks>(run, 0);
}

void blockGradientProduct(const BlockGradientProduct& run) { gradientProductBlocks<PairLanes, kBlocks>(run, 0); }

}  // namespace

const Bf16Table kBf16Table{.panelColumns = kVectors * 16,
                           .panelRows = kRows,
                           .toPairs = toPairs,
                           .gemm = gemm,
                           .gemmRows = gemmRows,
                           .pairRows = pairRows<float>,
                           .pairColumns = pairColumns<float>,
                           .pairRowsOfHalves = pairRows<Bf16>,
                           .pairColumnsOfHalves = pairColumns<Bf16>,
                           .blockProduct = blockProduct<float>,
                           .blockProductHalves = blockProduct<Bf16>,
                           .blockGradientProduct = blockGradientProduct};

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
