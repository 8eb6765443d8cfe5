#pragma once
#include <cstdint>
#include <string>

namespace lockstep {

std::string bytesText(std::uint64_t bytes);  // "1.4 GiB"

}  // namespace lockstep
