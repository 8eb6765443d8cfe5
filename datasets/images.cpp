#include "datasets/images.h"

#include "datasets/byte_stream.h"

namespace lockstep {

namespace {

constexpr std::uint64_t kLargestImage = 256 << 20;

}  // namespace

void decodeByRule(const std::filesystem::path& file, std::optional<std::string_view> bytes, const ImageRule& rule,
                  std::span<std::uint8_t> out) {
    std::vector<std::uint8_t> read;
    if (!bytes) read = readWhole(file, kLargestImage);
    const std::span<const std::uint8_t> encoded =
        bytes ? std::span(reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size())
              : std::span<const std::uint8_t>(read);
    cutPicture([&](const DecodeWish& wish, DecodedPart& part) { decodeImage(encoded, file, wish, part); }, rule,
               [&](int height, int width) { return rule.middle(height, width); }, out);
}

}  // namespace lockstep
