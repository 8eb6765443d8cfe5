#include "tests/tiles/tile_unit.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace lockstep::tiles {

// Of the form VEX.128.prefix.0F38.W0 opcode /r, with at most one operand in memory.
struct TileUnit::Instruction {
    enum Prefix { kNone, k66, kF3, kF2 };
    std::uint8_t opcode = 0;
    Prefix prefix = kNone;
    bool isOfMemory = false, hasIndex = false;
    unsigned reg = 0, rm = 0, third = 0;  // numbers of tiles
    std::uint8_t* base = nullptr;
    std::ptrdiff_t stride = 0;
};

namespace {

constexpr std::uint8_t kConfigure = 0x49, kMove = 0x4B, kMultiplyBf16 = 0x5C;

constexpr int kRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

std::int64_t displacement(const std::uint8_t* at, std::size_t bytes) {
    if (bytes == 1) return std::bit_cast<std::int8_t>(*at);
    std::int32_t wide = 0;
    if (bytes == 4) std::memcpy(&wide, at, 4);
    return wide;
}

}  // namespace

std::size_t TileUnit::decode(const std::uint8_t* code, const gregset_t& registers, Instruction& found) {
    const bool isVex3 = code[0] == 0xC4;
    if (!isVex3 || (code[1] & 0x1f) != 2 || (code[1] & 0x80) == 0 || (code[2] & 0x84) != 0) return 0;
    const unsigned highIndex = code[1] & 0x40 ? 0 : 8, highBase = code[1] & 0x20 ? 0 : 8;
    found.prefix = static_cast<Instruction::Prefix>(code[2] & 3);
    found.third = ~(code[2] >> 3) & 15u;
    found.opcode = code[3];
    const unsigned mod = code[4] >> 6;
    found.reg = code[4] >> 3 & 7u;
    found.rm = code[4] & 7u;
    found.isOfMemory = mod != 3;
    if (!found.isOfMemory) return 5;

    std::size_t length = 5, bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;
    unsigned base = found.rm;
    if (base == 4) {
        const std::uint8_t sib = code[length++];
        const unsigned index = (sib >> 3 & 7u) + highIndex;
        base = sib & 7u;
        found.hasIndex = index != 4;
        if (found.hasIndex) found.stride = static_cast<std::ptrdiff_t>(registers[kRegisters[index]]) << (sib >> 6);
    }
    const bool hasNoBase = base == 5 && mod == 0, isRelative = hasNoBase && found.rm == 5;
    if (hasNoBase) bytes = 4;
    std::int64_t address = displacement(code + length, bytes);
    length += bytes;
    if (isRelative) address += reinterpret_cast<std::int64_t>(code + length);
    else if (!hasNoBase) address += registers[kRegisters[base + highBase]];
    found.base = reinterpret_cast<std::uint8_t*>(address);
    return length;
}

std::size_t TileUnit::execute(const std::uint8_t* code, const gregset_t& registers) {
    Instruction it;
    const std::size_t length = decode(code, registers, it);
    if (length == 0) return 0;
    if (it.opcode == kConfigure) return configures(it) ? length : 0;
    if (it.opcode == kMove) return moves(it) ? length : 0;
    return it.opcode == kMultiplyBf16 && multiplies(it) ? length : 0;
}

// Palette 0, which takes the configuration away, is not asked for here; it is TILERELEASE that does it.
bool TileUnit::isValid(const Config& asked) {
    const auto isZero = [](std::uint8_t each) { return each == 0; };
    bool valid = asked.palette == 1 && asked.startRow == 0 && std::ranges::all_of(asked.reserved, isZero);
    for (int tile = 0; tile < 16; ++tile) {
        const unsigned bytes = asked.rowBytes[tile], rows = asked.rows[tile];
        const bool isThere = bytes > 0 && rows > 0, isNone = bytes == 0 && rows == 0;
        valid = valid && (isNone || (isThere && tile < 8 && bytes <= 64 && bytes % 4 == 0 && rows <= 16));
    }
    return valid;
}

// LDTILECFG, STTILECFG, TILEZERO and TILERELEASE.
bool TileUnit::configures(const Instruction& it) {
    if (it.isOfMemory) {
        if (it.prefix == Instruction::k66) std::memcpy(it.base + it.stride, &m_config, sizeof m_config);
        if (it.prefix != Instruction::kNone) return it.prefix == Instruction::k66;
        Config asked;
        std::memcpy(&asked, it.base + it.stride, sizeof asked);
        if (!isValid(asked)) return false;
        std::memset(m_tiles, 0, sizeof m_tiles);
        m_config = asked;
        return true;
    }
    if (it.prefix == Instruction::kF2 && isConfigured(it.reg)) std::memset(&m_tiles[it.reg], 0, sizeof(Tile));
    else if (it.prefix == Instruction::kNone) std::memset(static_cast<void*>(this), 0, sizeof *this);
    else return false;
    return true;
}

// TILELOADD, TILELOADDT1 and TILESTORED.
bool TileUnit::moves(const Instruction& it) {
    const std::size_t bytes = m_config.rowBytes[it.reg], rows = m_config.rows[it.reg];
    if (!it.isOfMemory || !it.hasIndex || it.prefix == Instruction::kNone || !isConfigured(it.reg)) return false;
    Tile& tile = m_tiles[it.reg];
    const bool stores = it.prefix == Instruction::kF3;
    if (!stores) std::memset(&tile, 0, sizeof tile);
    for (std::size_t row = 0; row < rows; ++row) {
        std::uint8_t* at = it.base + static_cast<std::ptrdiff_t>(row) * it.stride;
        if (stores) std::memcpy(at, tile.rows[row], bytes);
        else std::memcpy(tile.rows[row], at, bytes);
    }
    return true;
}

// TDPBF16PS: even and odd depths are summed apart, by fused multiply-add.
bool TileUnit::multiplies(const Instruction& it) {
    constexpr std::size_t kPairs = 16;
    if (it.isOfMemory || it.prefix != Instruction::kF3) return false;
    if (!isConfigured(it.reg) || !isConfigured(it.rm) || !isConfigured(it.third)) return false;
    if (it.reg == it.rm || it.reg == it.third || it.rm == it.third) return false;
    const std::size_t rows = m_config.rows[it.reg], columns = m_config.rowBytes[it.reg] / 4u,
                      depth = m_config.rowBytes[it.rm] / 4u;
    if (m_config.rows[it.rm] != rows || m_config.rowBytes[it.third] != 4 * columns || m_config.rows[it.third] != depth)
        return false;
    const auto pairAt = [](const std::uint8_t* at) {
        std::uint32_t pair;
        std::memcpy(&pair, at, sizeof pair);
        return pair;
    };
    const auto evenOf = [](std::uint32_t pair) { return std::bit_cast<float>(pair << 16); };
    const auto oddOf = [](std::uint32_t pair) { return std::bit_cast<float>(pair & 0xffff0000u); };
    for (std::size_t row = 0; row < rows; ++row) {
        float even[kPairs] = {}, odd[kPairs] = {}, sums[kPairs];
        for (std::size_t k = 0; k < depth; ++k) {
            const std::uint32_t a = pairAt(m_tiles[it.rm].rows[row] + 4 * k);
            for (std::size_t column = 0; column < kPairs; ++column) {
                const std::uint32_t b = pairAt(m_tiles[it.third].rows[k] + 4 * column);
                even[column] = __builtin_fmaf(evenOf(a), evenOf(b), even[column]);
                odd[column] = __builtin_fmaf(oddOf(a), oddOf(b), odd[column]);
            }
        }
        std::memcpy(sums, m_tiles[it.reg].rows[row], sizeof sums);
        for (std::size_t column = 0; column < columns; ++column) sums[column] += even[column] + odd[column];
        std::memcpy(m_tiles[it.reg].rows[row], sums, sizeof sums);
    }
    return true;
}

}  // namespace lockstep::tiles
