#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace lockstep {

// FNV-1a over 64-bit words; the odd bytes at the end count as one word. Each step can be undone, so that damage within
// one word is always noticed. Against accidents, not against attackers; several GB/s.
inline std::uint64_t checksum(std::uint64_t before, std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
        before = (before ^ word) * 1099511628211ull;
    }
    return before;
}

}  // namespace lockstep
