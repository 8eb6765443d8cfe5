#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace pnm {

struct Image {
    int channels = 0, height = 0, width = 0;
    std::vector<std::uint8_t> pixels;  // plane by plane
};

// A binary PGM (P5) or PPM (P6) with up to 255 levels, and nothing behind its pixels. Throws std::runtime_error naming
// the file.
Image read(const std::filesystem::path& file);
bool hasKnownEnding(const std::filesystem::path& file);

}  // namespace pnm
