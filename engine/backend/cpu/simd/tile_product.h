#pragma once
#include "engine/backend/cpu/simd/lanes.h"
#include "engine/backend/cpu/simd/table.h"

// Bf16Table::gemmRows with eight tiles of sixteen rows of 64 bytes: those of a processor (amx.cpp), or what a test puts
// in their place, between GemmRows::begin() and end(). Strides are counted in floats.
namespace lockstep::cpu::LOCKSTEP_SIMD {

constexpr std::size_t kTilePanel = 32;

// kRows by kColumns tiles of c. A tile of a is sixteen rows of sixteen pairs, one of b sixteen pairs of depths.
template <class Unit, int kRows, int kColumns>
void tileBlock(Unit& unit, const GemmRun& run, const float* panel, std::size_t row, float* c) {
    constexpr int kOfA = 4, kOfB = 6;
    const auto placeOf = [&](std::size_t tile) {
        return c + (row + tile / kColumns * 16) * run.cRowStride + tile % kColumns * 16;
    };
    unrolled<0, kRows * kColumns>([&](auto tile) {
        if (run.adds) unit.template load<tile.value>(placeOf(tile.value), run.cRowStride);
        else unit.template clear<tile.value>();
    });
    for (std::size_t part = 0; part < run.partCount; ++part) {
        const float *a = run.a + run.parts[part].a + row * run.aRowStride, *b = panel + run.parts[part].panel;
        for (std::size_t k = 0; k < run.depth; k += 16) {
            unrolled<0, kRows>([&](auto i) {
                unit.template load<kOfA + i.value>(a + i.value * 16 * run.aRowStride + k, run.aRowStride);
            });
            unrolled<0, kColumns>(
                [&](auto j) { unit.template load<kOfB + j.value>(b + k * kTilePanel + j.value * 16, kTilePanel); });
            unrolled<0, kRows * kColumns>([&](auto tile) {
                unit.template multiply<tile.value, kOfA + tile.value / kColumns, kOfB + tile.value % kColumns>();
            });
        }
    }
    unrolled<0, kRows * kColumns>(
        [&](auto tile) { unit.template store<tile.value>(placeOf(tile.value), run.cRowStride); });
}

template <class Unit>
void tileProduct(const GemmRun& run, std::size_t panelStride) {
    Unit unit;
    for (std::size_t column = 0; column < run.columns; column += kTilePanel) {
        const float* panel = run.panel + column / kTilePanel * panelStride;
        float* c = run.c + column;
        for (std::size_t row = 0; row < run.rows; row += 32) {
            const bool isTall = run.rows - row > 16, isWide = run.columns - column > 16;
            if (isTall && isWide) tileBlock<Unit, 2, 2>(unit, run, panel, row, c);
            else if (isTall) tileBlock<Unit, 2, 1>(unit, run, panel, row, c);
            else if (isWide) tileBlock<Unit, 1, 2>(unit, run, panel, row, c);
            else tileBlock<Unit, 1, 1>(unit, run, panel, row, c);
        }
    }
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
