#include "engine/backend/cpu/simd/tile_product.h"

// Tiles of bf16 (Intel, Architecture Instruction Set Extensions, AMX). Their numbers are part of the instructions,
// which compilers' own functions take from the text of the source alone.
namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

struct alignas(64) TileConfig {
    std::uint8_t palette = 1, startRow = 0, reserved[14] = {};
    std::uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

struct Tiles {
    template <int kTile>
    [[gnu::always_inline]] void clear() {
        asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
    }
    template <int kTile>
    [[gnu::always_inline]] void load(const float* at, std::size_t stride) {
        asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(at), "r"(stride * sizeof(float)), "i"(kTile) : "memory");
    }
    template <int kTile>
    [[gnu::always_inline]] void store(float* at, std::size_t stride) {
        asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(at), "r"(stride * sizeof(float)), "i"(kTile) : "memory");
    }
    // Sums of tile kC += rows of kA times columns of kB, pair by pair.
    template <int kC, int kA, int kB>
    [[gnu::always_inline]] void multiply() {
        asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
    }
};

}  // namespace

constinit const GemmRows kGemmRows{.multiply = tileProduct<Tiles>,
                                   .begin =
                                       [] {
                                           static constexpr TileConfig kWhole;
                                           asm volatile("ldtilecfg %0" ::"m"(kWhole));
                                       },
                                   .end = [] { asm volatile("tilerelease"); }};

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
