#include "engine/backend/cpu/simd/gemm_tile.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

constexpr std::size_t kVectorsOfTile = kRows * kVectors, kFewRows = kRows / 2 + 1, kFewest = kRows / 4;

// Of c.
struct Quarter {
    bool lower, right;
};

struct Operands {
    const float *a, *b;
};
[[gnu::always_inline]] inline Operands operandsOf(const StrassenRun& run, std::size_t panel, std::size_t operand) {
    return {run.a + operand * run.aStride + panel * kRows * run.depth, run.b + operand * run.bStride};
}

// The first kM rows of a tile.
template <std::size_t kM>
[[gnu::noinline]] void multiplyFirst(const Operands& of, std::size_t depth, F16* sums) {
    F16 first[kM * kVectors];
    sumUp<FloatLanes, kM>(of.a, 1, kRows, of.b, depth, first);
    unrolled<0, kM * kVectors>([&](auto at) __attribute__((always_inline)) { sums[at.value] = first[at.value]; });
}

// How many of a tile's rows there are.
[[gnu::always_inline]] inline std::size_t rowsOf(const StrassenRun& run, std::size_t panel, Quarter quarter) {
    const std::size_t rows = quarter.lower ? run.lowerRows : run.upperRows, before = panel * kRows;
    return rows <= before ? 0 : rows - before < kRows ? rows - before : kRows;
}

[[gnu::always_inline]] inline float* tileOf(const StrassenRun& run, std::size_t panel, Quarter quarter) {
    const std::size_t row = panel * kRows + (quarter.lower ? run.lower : 0);
    return run.c + row * run.cRowStride + (quarter.right ? run.right : 0);
}

// While a product is made whose sums soon go there.
[[gnu::always_inline]] inline void prefetch(const StrassenRun& run, std::size_t panel, Quarter quarter) {
    const float* to = tileOf(run, panel, quarter);
    for (std::size_t rows = rowsOf(run, panel, quarter); rows > 0; --rows, to += run.cRowStride) {
        for (std::size_t j = 0; j < kVectors; ++j) __builtin_prefetch(to + j * 16, 1, 3);
    }
}

// Rows that do not exist are not written.
[[gnu::always_inline]] inline void put(const StrassenRun& run, std::size_t panel, std::size_t at, Quarter quarter,
                                       F16 sum) {
    const std::size_t row = at / kVectors, column = at % kVectors * 16;
    if (row >= rowsOf(run, panel, quarter)) return;
    float* to = tileOf(run, panel, quarter) + row * run.cRowStride + column;
    if (run.adds) sum += load(to);
    if (run.bias) sum += load(run.bias + (quarter.right ? run.right : 0) + column);
    store(to, run.relu ? positive(sum) : sum);
}

}  // namespace

// A column panel's operand stays in the first-level cache while all row panels are multiplied with it; what later
// products are added to waits there, too.
void strassenTiles(const StrassenRun& run) {
    F16 u2[kStrassenPanels][kVectorsOfTile], u3[kStrassenPanels][kVectorsOfTile];
    // The last panel may have a few rows only, which need no whole tile.
    const std::size_t few = run.upperRows - (run.panels - 1) * kRows;
    const std::size_t whole = few > kFewRows ? run.panels : run.panels - 1;
    const auto each = [&](std::size_t operand, Quarter next, auto use) __attribute__((always_inline)) {
        for (std::size_t panel = 0; panel < whole; ++panel) {
            F16 sums[kVectorsOfTile];
            prefetch(run, panel, next);
            const Operands of = operandsOf(run, panel, operand);
            sumUp<FloatLanes, kRows>(of.a, 1, kRows, of.b, run.depth, sums);
            unrolled<0, kVectorsOfTile>([&](auto at)
                                            __attribute__((always_inline)) { use(panel, at.value, sums[at.value]); });
        }
        if (whole == run.panels) return;
        F16 sums[kFewRows * kVectors]{};
        const Operands of = operandsOf(run, whole, operand);
        if (few <= kFewest)
            multiplyFirst<kFewest>(of, run.depth, sums);
        else
            multiplyFirst<kFewRows>(of, run.depth, sums);
        for (std::size_t at = 0; at < kFewRows * kVectors; ++at) use(whole, at, sums[at]);
    };
    constexpr Quarter kC11{false, false}, kC12{false, true}, kC21{true, false}, kC22{true, true};
    each(
        0, kC11, [&](std::size_t i, std::size_t at, F16 p1) __attribute__((always_inline)) { u2[i][at] = p1; });
    each(
        1, kC11, [&](std::size_t i, std::size_t at, F16 p2) __attribute__((always_inline)) {
            put(run, i, at, kC11, u2[i][at] + p2);
        });
    each(
        2, kC22, [&](std::size_t i, std::size_t at, F16 p6) __attribute__((always_inline)) { u2[i][at] += p6; });
    each(
        3, kC22, [&](std::size_t i, std::size_t at, F16 p7) __attribute__((always_inline)) {
            u3[i][at] = u2[i][at] + p7;
        });
    each(
        4, kC22, [&](std::size_t i, std::size_t at, F16 p5) __attribute__((always_inline)) {
            put(run, i, at, kC22, u3[i][at] + p5);
            u2[i][at] += p5;
        });
    each(
        5, kC12, [&](std::size_t i, std::size_t at, F16 p3) __attribute__((always_inline)) {
            put(run, i, at, kC12, u2[i][at] + p3);
        });
    each(
        6, kC21, [&](std::size_t i, std::size_t at, F16 p4) __attribute__((always_inline)) {
            put(run, i, at, kC21, u3[i][at] - p4);
        });
}

void strassenRows(float* operands, std::size_t stride, std::size_t count) {
    for (std::size_t i = 0; i < count; i += 16) {
        const auto at = [&](std::size_t operand) __attribute__((always_inline)) {
            return operands + operand * stride + i;
        };
        const F16 a11 = load(at(0)), a12 = load(at(1)), a21 = load(at(2)), a22 = load(at(6));
        const F16 s1 = a21 + a22, s2 = s1 - a11;
        store(at(2), s2);
        store(at(3), a11 - a21);
        store(at(4), s1);
        store(at(5), a12 - s2);
    }
}

void strassenColumns(float* operands, std::size_t stride, std::size_t count) {
    for (std::size_t i = 0; i < count; i += 16) {
        const auto at = [&](std::size_t operand) __attribute__((always_inline)) {
            return operands + operand * stride + i;
        };
        const F16 b11 = load(at(0)), b21 = load(at(1)), b12 = load(at(2)), b22 = load(at(5));
        const F16 t1 = b12 - b11, t2 = b22 - t1;
        store(at(2), t2);
        store(at(3), b22 - b12);
        store(at(4), t1);
        store(at(6), t2 - b21);
    }
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
