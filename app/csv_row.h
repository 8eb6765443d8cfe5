#pragma once
#include <string>
#include <vector>

namespace lockstep {

// A record of RFC 4180, but that lines end with LF.
std::string csvRow(const std::vector<std::string>& cells);

}  // namespace lockstep
