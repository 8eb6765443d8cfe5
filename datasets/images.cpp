#include "datasets/images.h"

#include "datasets/byte_stream.h"
#include "datasets/image_codec.h"

namespace lockstep {

namespace {

constexpr std::uint64_t kLargestImage = 256 << 20;

}  // namespace

void decodeSquare(const std::filesystem::path& file, std::optional<std::string_view> bytes, int size, int channels,
                  std::span<std::uint8_t> out) {
    std::vector<std::uint8_t> read;
    if (!bytes) read = readWhole(file, kLargestImage);
    const std::span<const std::uint8_t> encoded =
        bytes ? std::span(reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size())
              : std::span<const std::uint8_t>(read);
    toSquare(decodeImage(encoded, file, {channels, size}), size, channels, out);
}

}  // namespace lockstep
