#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace lockstep {

// Parts of a batch that are found by measuring, in place of numbers.
constexpr std::string_view kBalanced = "balanced";

// "2,1" or "0.6,0.3,0.1": what each of `devices` devices takes of a batch, relative to the others; finite and above 0.
// Problems: "spec.shares-syntax", "spec.shares-count".
Result<std::vector<double>> parseShares(std::string_view text, std::size_t devices);
std::string textOfShares(const std::vector<double>& shares);  // the shortest that parseShares() reads back

}  // namespace lockstep
