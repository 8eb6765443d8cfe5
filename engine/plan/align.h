#pragma once
#include <cstddef>

namespace lockstep {

constexpr std::size_t kSlotAlignment = 64;  // bytes, of every entry and slot of an arena: a cache line

constexpr std::size_t alignUp(std::size_t bytes, std::size_t alignment = kSlotAlignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace lockstep
