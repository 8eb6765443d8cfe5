#pragma once
#include <string_view>

#include "engine/core/result.h"
#include "engine/core/strict_json.h"

namespace lockstep {

// Why a file that a person may have written is not taken: "spec.malformed" (line and column), "spec.too-deep",
// "spec.too-many", "spec.duplicate-key".
Problem problemOf(const JsonFault& fault, const JsonLimits& limits, std::string_view json, std::string_view fileName);

}  // namespace lockstep
