#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

namespace lockstep {

// Decodes an image as image folders do: the centred square, scaled to size x size, as `channels` planes into `out`.
// `bytes`: of the file, where they are at hand; else it is read. Thread-safe. Throws ProblemError: those of
// image_codec.h and "file.*"; "image.not-in-this-build" in a build without decoders.
void decodeSquare(const std::filesystem::path& file, std::optional<std::string_view> bytes, int size, int channels,
                  std::span<std::uint8_t> out);

}  // namespace lockstep
