#pragma once
#include <cstddef>
#include <cstdint>

namespace lockstep::cuda {

// Slots of arenas lie at multiples of 64 bytes. NVIDIA's libraries are told so of what they read and write, but want
// their workspace at a multiple of 256.
constexpr std::size_t kSlotAlignment = 64, kWorkspaceAlignment = 256;

// The slot that holds as many bytes for a library, wherever it comes to lie.
constexpr std::size_t librarySlot(std::size_t bytes) {
    return bytes == 0 ? 0 : bytes + kWorkspaceAlignment - kSlotAlignment;
}
inline std::byte* libraryWorkspace(std::byte* slot) {
    const auto at = reinterpret_cast<std::uintptr_t>(slot);
    return slot + (kWorkspaceAlignment - at % kWorkspaceAlignment) % kWorkspaceAlignment;
}

}  // namespace lockstep::cuda
