#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/report/document.h"

namespace lockstep::report {

// What the sections of all documents are written with.

using Blocks = std::vector<Block>;
void append(Blocks& blocks, Blocks more);

// Something that the program said, in words. Level: "warning", "failure"; of a sweep's trials the kind of failure.
struct CardMessage {
    std::string level, what, remedy;
};

std::string counted(std::int64_t count, std::string_view one, std::string_view many);  // "1 sample"
std::string joinedText(const std::vector<std::string>& words);                         // "a, b, c"
std::string momentText(const std::string& utc);  // "2026-11-20T12:49:57.471Z" -> "2026-11-20 12:49 UTC"

}  // namespace lockstep::report
