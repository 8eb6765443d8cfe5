#pragma once
#include <cstddef>
#include <string_view>

namespace lockstep {

// So many bytes tell.
inline constexpr std::size_t kFileKindBytes = 64;

// What a file seems to be that somebody gave in the place of another, by its first bytes: "a JPEG image", "a text".
std::string_view kindOfFile(std::string_view front);

}  // namespace lockstep
