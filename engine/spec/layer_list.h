#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// "stem, block1" -> stem and block1. Spaces around names, a "/" behind them and empty parts mean nothing.
std::vector<std::string> parseLayers(std::string_view text);

}  // namespace lockstep
