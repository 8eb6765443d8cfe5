#include "datasets/exif.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace lockstep {

namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::string_view kExif{"Exif\0\0", 6};

// Numbers of a TIFF structure, in its byte order; nothing beyond its end.
class Tiff {
public:
    explicit Tiff(Bytes bytes) : m_bytes(bytes), m_little(!bytes.empty() && bytes[0] == 'I') {}

    std::optional<std::uint32_t> number(std::size_t at, std::size_t width) const {
        if (at > m_bytes.size() || width > m_bytes.size() - at) return std::nullopt;
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < width; ++i) value = value << 8 | m_bytes[at + (m_little ? width - 1 - i : i)];
        return value;
    }

private:
    Bytes m_bytes;
    bool m_little;
};

// The first directory is a count and so many entries of 12 bytes: tag, type, count, value.
int orientationIn(const Tiff& tiff) {
    constexpr std::uint32_t kMagic = 42, kOrientation = 0x112, kShort = 3;
    if (tiff.number(2, 2) != kMagic) return 1;
    const auto directory = tiff.number(4, 4);
    const auto entries = directory ? tiff.number(*directory, 2) : std::nullopt;
    for (std::uint32_t i = 0; entries && i < *entries; ++i) {
        const std::size_t at = std::size_t{*directory} + 2 + std::size_t{12} * i;
        const auto tag = tiff.number(at, 2);
        if (!tag) break;
        if (*tag != kOrientation) continue;
        const auto value = tiff.number(at + 8, 2);
        const bool known = tiff.number(at + 2, 2) == kShort && value && *value >= 1 && *value <= 8;
        return known ? static_cast<int>(*value) : 1;
    }
    return 1;
}

bool isExif(Bytes segment) {
    return segment.size() >= kExif.size() && std::equal(kExif.begin(), kExif.end(), segment.begin());
}

}  // namespace

int exifOrientation(Bytes jpeg) {
    constexpr std::uint8_t kMark = 0xff, kApp1 = 0xe1, kStartOfScan = 0xda, kEnd = 0xd9;
    for (std::size_t at = 2; at + 4 <= jpeg.size();) {
        if (jpeg[at] != kMark) return 1;
        const std::uint8_t kind = jpeg[at + 1];
        if (kind == kMark) {  // a fill byte
            ++at;
            continue;
        }
        if (kind == kStartOfScan || kind == kEnd) return 1;
        const std::size_t length = std::size_t{jpeg[at + 2]} << 8 | jpeg[at + 3];
        if (length < 2 || length > jpeg.size() - at - 2) return 1;
        const Bytes segment = jpeg.subspan(at + 4, length - 2);
        if (kind == kApp1 && isExif(segment)) return orientationIn(Tiff(segment.subspan(kExif.size())));
        at += 2 + length;
    }
    return 1;
}

// Chunks: a length, a kind, so many bytes, and a checksum.
int exifOrientationOfPng(Bytes png) {
    constexpr std::size_t kSignature = 8, kHead = 8, kChecksum = 4;
    for (std::size_t at = kSignature; at + kHead <= png.size();) {
        std::size_t length = 0;
        for (std::size_t i = 0; i < 4; ++i) length = length << 8 | png[at + i];
        const std::string_view kind(reinterpret_cast<const char*>(png.data()) + at + 4, 4);
        if (length > png.size() - at - kHead) return 1;
        if (kind == "eXIf") return orientationIn(Tiff(png.subspan(at + kHead, length)));
        at += kHead + length + kChecksum;
    }
    return 1;
}

}  // namespace lockstep
