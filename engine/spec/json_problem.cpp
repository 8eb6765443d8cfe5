#include "engine/spec/json_problem.h"

#include <algorithm>
#include <string>

namespace lockstep {

namespace {

Problem malformed(std::string_view json, std::size_t byte, std::string_view fileName) {
    const auto before = json.substr(0, byte == 0 ? 0 : byte - 1);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto start = before.rfind('\n');
    const auto column = 1 + before.size() - (start == before.npos ? 0 : start + 1);
    return {std::string(fileName), "spec.malformed", {std::to_string(line), std::to_string(column)}};
}

}  // namespace

Problem problemOf(const JsonFault& fault, const JsonLimits& limits, std::string_view json, std::string_view fileName) {
    const std::string file(fileName);
    switch (fault.kind) {
        case JsonFault::Kind::Malformed: break;
        case JsonFault::Kind::TooDeep: return {file, "spec.too-deep", {std::to_string(limits.depth)}};
        case JsonFault::Kind::TooMany: return {file, "spec.too-many", {std::to_string(limits.members)}};
        case JsonFault::Kind::DuplicateKey:
            return {file.empty() ? fault.path : file + ": " + fault.path, "spec.duplicate-key", {fault.key}};
    }
    return malformed(json, fault.byte, fileName);
}

}  // namespace lockstep
