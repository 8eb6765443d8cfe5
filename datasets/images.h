#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "datasets/cut_picture.h"

namespace lockstep {

// Decodes an image and cuts it by the rule, as planes into `out`. `bytes`: of the file, where they are at hand; else it
// is read. Thread-safe. Throws ProblemError: those of image_codec.h and "file.*"; "image.not-in-this-build" in a build
// without decoders.
void decodeByRule(const std::filesystem::path& file, std::optional<std::string_view> bytes, const ImageRule& rule,
                  std::span<std::uint8_t> out);

}  // namespace lockstep
