#include "datasets/images.h"
#include "engine/core/result.h"

namespace lockstep {

void decodeSquare(const std::filesystem::path& file, std::optional<std::string_view>, int, int,
                  std::span<std::uint8_t>) {
    throw ProblemError({file.string(), "image.not-in-this-build", {}});
}

}  // namespace lockstep
