#include "datasets/changed_file.h"

#include <system_error>

#include "engine/core/result.h"

namespace lockstep {

void changedSince(const std::filesystem::path& file, const std::filesystem::path& index) {
    std::error_code ignored;
    if (!index.empty()) std::filesystem::remove(index, ignored);
    throw ProblemError({file.string(), "picture-index.changed", {}});
}

void damagedIndex(const std::filesystem::path& index) {
    std::error_code ignored;
    std::filesystem::remove(index, ignored);
    throw ProblemError({index.string(), "picture-index.damaged", {}});
}

}  // namespace lockstep
