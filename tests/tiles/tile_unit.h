#pragma once
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace lockstep::tiles {

// Eight tiles of at most sixteen rows of 64 bytes and the instructions for them, in software: TILELOADD, TILESTORED,
// TDPBF16PS and the like, as in "Intel Architecture Instruction Set Extensions", chapter 3. One per thread; it does not
// allocate. Zero bytes are one that is not configured.
class TileUnit {
public:
    // Carries out what stands at `code`, with addresses from `registers`, and returns its length in bytes; 0, having
    // done nothing, where it is no instruction for tiles, or one that a processor refuses (#UD, #GP): a configuration
    // that is not valid, tiles of other shapes than the instruction multiplies, or without one.
    std::size_t execute(const std::uint8_t* code, const gregset_t& registers);

private:
    struct Instruction;
    struct alignas(64) Tile {
        std::uint8_t rows[16][64];
    };
    // The operand of LDTILECFG.
    struct Config {
        std::uint8_t palette, startRow, reserved[14];
        std::uint16_t rowBytes[16];
        std::uint8_t rows[16];
    };
    static_assert(sizeof(Config) == 64);

    static bool isValid(const Config& asked);
    static std::size_t decode(const std::uint8_t* code, const gregset_t& registers, Instruction& found);
    bool configures(const Instruction& it);
    bool moves(const Instruction& it);
    bool multiplies(const Instruction& it);
    bool isConfigured(unsigned tile) const { return tile < 8 && m_config.rows[tile] > 0; }

    Config m_config;
    Tile m_tiles[8];
};

}  // namespace lockstep::tiles
