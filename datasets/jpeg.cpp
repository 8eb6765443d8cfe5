#include <turbojpeg.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string_view>

#include "datasets/exif.h"
#include "datasets/image_codec.h"
#include "engine/core/result.h"

namespace lockstep {

namespace {

struct Close {
    void operator()(void* handle) const { tjDestroy(handle); }
};
using Handle = std::unique_ptr<void, Close>;

Handle openDecoder() {
    Handle handle(tjInitDecompress());
    if (!handle) throw std::bad_alloc();
    return handle;
}

// libjpeg says "Premature end of JPEG file", "Corrupt JPEG data: premature end of data segment" or "Invalid JPEG file
// structure" with a missing end when bytes are missing.
[[noreturn]] void fail(const Handle& handle, const std::filesystem::path& file) {
    const std::string message = tjGetErrorStr2(handle.get());
    const bool truncated = message.find("remature end") != std::string::npos;
    throw ProblemError({file.string(), truncated ? "image.truncated" : "image.corrupt", {message}});
}

struct Header {
    int width = 0, height = 0, colours = 0;
};

Header readHeader(const Handle& handle, std::span<const std::uint8_t> bytes, const std::filesystem::path& file) {
    Header header;
    int subsampling = 0;
    if (tjDecompressHeader3(handle.get(), bytes.data(), bytes.size(), &header.width, &header.height, &subsampling,
                            &header.colours) != 0) {
        fail(handle, file);
    }
    if (header.width < 1 || header.height < 1) {  // success: a file of tables is a JPEG file, too
        throw ProblemError({file.string(), "image.truncated", {"it ends before the picture begins"}});
    }
    if (header.colours == TJCS_CMYK || header.colours == TJCS_YCCK) {
        throw ProblemError({file.string(), "image.unsupported-colour", {"CMYK"}});
    }
    requireSaneSize(static_cast<std::uint64_t>(header.width), static_cast<std::uint64_t>(header.height), file);
    return header;
}

// The smallest of the decoder's scales that is still large enough.
tjscalingfactor scaleFor(const Header& header, int shortSide) {
    int count = 0;
    const tjscalingfactor* factors = tjGetScalingFactors(&count);
    tjscalingfactor best{1, 1};
    const int side = std::min(header.width, header.height);
    for (const tjscalingfactor& factor : std::span(factors, static_cast<std::size_t>(count))) {
        const bool smaller = factor.num * best.denom < best.num * factor.denom;
        if (shortSide > 0 && smaller && TJSCALED(side, factor) >= shortSide) best = factor;
    }
    return best;
}

}  // namespace

PictureSize sizeOfJpeg(std::span<const std::uint8_t> bytes, const std::filesystem::path& file) {
    const Header header = readHeader(openDecoder(), bytes, file);
    const int channels = header.colours == TJCS_GRAY ? 1 : 3;
    if (liesOnItsSide(exifOrientation(bytes))) return {channels, header.width, header.height};
    return {channels, header.height, header.width};
}

Picture decodeJpeg(std::span<const std::uint8_t> bytes, const std::filesystem::path& file, const DecodeWish& wish) {
    const Handle handle = openDecoder();
    const Header header = readHeader(handle, bytes, file);
    const tjscalingfactor scale = scaleFor(header, wish.shortSide);
    Picture picture{wish.channels, TJSCALED(header.height, scale), TJSCALED(header.width, scale), {}};
    picture.pixels.resize(static_cast<std::size_t>(picture.channels) * static_cast<std::size_t>(picture.height) *
                          static_cast<std::size_t>(picture.width));
    if (tjDecompress2(handle.get(), bytes.data(), bytes.size(), picture.pixels.data(), picture.width, 0, picture.height,
                      picture.channels == 1 ? TJPF_GRAY : TJPF_RGB, TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS) != 0) {
        fail(handle, file);
    }
    return upright(std::move(picture), exifOrientation(bytes));
}

}  // namespace lockstep
