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

class Tiles {
public:
    Tiles() {
        static constexpr TileConfig kWhole;
        asm volatile("ldtilecfg %0" ::"m"(kWhole));
    }
    ~Tiles() { asm volatile("tilerelease"); }
    Tiles(const Tiles&) = delete;
    Tiles& operator=(const Tiles&) = delete;

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

void gemmRows(const GemmRun& run, std::size_t panelStride) { tileProduct<Tiles>(run, panelStride); }

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
