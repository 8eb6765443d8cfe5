#include "datasets/images.h"
#include "engine/core/result.h"

namespace lockstep {

void decodeByRule(const std::filesystem::path& file, std::optional<std::string_view>, const ImageRule&,
                  std::span<std::uint8_t>) {
    throw ProblemError({file.string(), "image.not-in-this-build", {}});
}

}  // namespace lockstep
