#include "engine/backend/cpu/simd/gemm_tile.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

static_assert(kRows <= kStrassenParts, "each row has a part of its own");
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

[[gnu::always_inline]] inline const float* biasOf(const StrassenRun& run, Quarter quarter) {
    return run.bias && quarter.right ? run.bias + run.right : run.bias;
}

[[gnu::always_inline]] inline void readAhead(ReadAhead& ahead) {
    for (std::size_t i = 0; i < ahead.linesOfPart && ahead.rows > 0; ++i) {
        __builtin_prefetch(ahead.row + ahead.column, 0, 2);
        ahead.column += 16;
        if (ahead.column < ahead.width) continue;
        ahead.column = 0;
        ahead.row += ahead.stride;
        --ahead.rows;
    }
}

// Of a tile, while the places where sums go next are brought into the cache, and what is read after these products: a
// little with each part of the depth, for a burst of requests would keep the loads waiting.
[[gnu::always_inline]] inline void multiplyTile(const StrassenRun& run, const Operands& of, std::size_t panel,
                                                Quarter next, F16* sums) {
    const float *a = of.a, *b = of.b, *to = tileOf(run, panel, next);
    const std::size_t rows = rowsOf(run, panel, next), stride = run.cRowStride;
    unrolled<0, kVectorsOfTile>([&](auto at) __attribute__((always_inline)) { sums[at.value] = F16{}; });
    for (std::size_t part = 0; part < kStrassenParts; ++part) {
        readAhead(*run.ahead);
        if (part < rows) {
            for (std::size_t j = 0; j < kVectors; ++j) __builtin_prefetch(to + j * 16, 1, 3);
            to += stride;
        }
        addUp<FloatLanes, kRows>(a, 1, kRows, b, run.depth / kStrassenParts, sums);
    }
}

// Rows that do not exist are not written.
[[gnu::noinline]] void putRows(const StrassenRun& run, std::size_t panel, Quarter quarter, const F16* sums) {
    float* to = tileOf(run, panel, quarter);
    const float* bias = biasOf(run, quarter);
    for (std::size_t rows = rowsOf(run, panel, quarter); rows > 0; --rows, to += run.cRowStride) {
        for (std::size_t j = 0; j < kVectors; ++j, ++sums) {
            F16 sum = *sums;
            if (run.adds) sum += load(to + j * 16);
            if (bias) sum += load(bias + j * 16);
            store(to + j * 16, run.relu ? positive(sum) : sum);
        }
    }
}

// All rows of a tile, whose sums are in registers.
template <bool kAdds, bool kHasBias>
[[gnu::always_inline]] inline void putTile(float* to, std::size_t stride, const float* bias, const F16* sums) {
    unrolled<0, kVectors>([&](auto j) __attribute__((always_inline)) {
        const F16 offset = kHasBias ? load(bias + j.value * 16) : F16{};
        float* at = to + j.value * 16;
        unrolled<0, kRows>([&](auto row) __attribute__((always_inline)) {
            F16 sum = sums[row.value * kVectors + j.value];
            if constexpr (kAdds) sum += load(at);
            if constexpr (kHasBias) sum += offset;
            store(at, sum);
            at += stride;
        });
    });
}

template <std::size_t kCount>
[[gnu::always_inline]] inline void put(const StrassenRun& run, std::size_t panel, Quarter quarter, const F16* sums) {
    if (kCount == kVectorsOfTile && !run.relu && rowsOf(run, panel, quarter) == kRows) {
        float* const to = tileOf(run, panel, quarter);
        const std::size_t stride = run.cRowStride;
        const float* bias = biasOf(run, quarter);
        if (run.adds)
            return bias ? putTile<true, true>(to, stride, bias, sums) : putTile<true, false>(to, stride, bias, sums);
        return bias ? putTile<false, true>(to, stride, bias, sums) : putTile<false, false>(to, stride, bias, sums);
    }
    F16 inMemory[kCount];
    unrolled<0, kCount>([&](auto at) __attribute__((always_inline)) { inMemory[at.value] = sums[at.value]; });
    putRows(run, panel, quarter, inMemory);
}

}  // namespace

// A column panel's operand stays in the first-level cache while all row panels are multiplied with it; what later
// products are added to waits there, too.
void strassenTiles(const StrassenRun& run) {
    F16 u2s[kStrassenPanels][kVectorsOfTile], u3s[kStrassenPanels][kVectorsOfTile];
    // The last panel may have a few rows only, which need no whole tile.
    const std::size_t few = run.upperRows - (run.panels - 1) * kRows;
    const std::size_t whole = few > kFewRows ? run.panels : run.panels - 1;
    // What a product's sums become: use(u2, u3, sum) for each. Those that are then all of `next` are put there.
    const auto each = [&](std::size_t operand, Quarter next, bool isAll, auto use) __attribute__((always_inline)) {
        const auto finish = [&](auto count, std::size_t panel, F16* sums) __attribute__((always_inline)) {
            unrolled<0, decltype(count)::value>([&](auto at) __attribute__((always_inline)) {
                use(u2s[panel][at.value], u3s[panel][at.value], sums[at.value]);
            });
            if (isAll) put<decltype(count)::value>(run, panel, next, sums);
        };
        for (std::size_t panel = 0; panel < whole; ++panel) {
            F16 sums[kVectorsOfTile];
            multiplyTile(run, operandsOf(run, panel, operand), panel, next, sums);
            finish(Index<kVectorsOfTile>{}, panel, sums);
        }
        if (whole == run.panels) return;
        F16 sums[kFewRows * kVectors]{};
        const Operands of = operandsOf(run, whole, operand);
        if (few <= kFewest) multiplyFirst<kFewest>(of, run.depth, sums);
        else multiplyFirst<kFewRows>(of, run.depth, sums);
        finish(Index<kFewRows * kVectors>{}, whole, sums);
    };
    constexpr Quarter kC11{false, false}, kC12{false, true}, kC21{true, false}, kC22{true, true};
    each(0, kC11, false, [](F16& u2, F16&, F16& p1) { u2 = p1; });
    each(1, kC11, true, [](F16& u2, F16&, F16& p2) { p2 += u2; });
    each(2, kC22, false, [](F16& u2, F16&, F16& p6) { u2 += p6; });
    each(3, kC22, false, [](F16& u2, F16& u3, F16& p7) { u3 = u2 + p7; });
    each(4, kC22, true, [](F16& u2, F16& u3, F16& p5) {
        u2 += p5;
        p5 += u3;
    });
    each(5, kC12, true, [](F16& u2, F16&, F16& p3) { p3 += u2; });
    each(6, kC21, true, [](F16&, F16& u3, F16& p4) { p4 = u3 - p4; });
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
