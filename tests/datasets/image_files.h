#pragma once
#include <png.h>
#include <turbojpeg.h>

#include <cstdint>
#include <vector>

// Images made in memory for the tests of decoders.
namespace lockstep::test {

// Interleaved pixels of a smooth picture.
inline std::vector<std::uint8_t> gradient(int width, int height, int channels) {
    std::vector<std::uint8_t> pixels;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            for (int c = 0; c < channels; ++c)
                pixels.push_back(static_cast<std::uint8_t>(30 * c + 100 * x / width + 60 * y / height));
        }
    }
    return pixels;
}

inline std::vector<std::uint8_t> jpegOf(const std::vector<std::uint8_t>& pixels, int width, int height, int format,
                                        int flags = 0) {
    const tjhandle handle = tjInitCompress();
    unsigned char* out = nullptr;
    unsigned long size = 0;
    tjCompress2(handle, pixels.data(), width, 0, height, format, &out, &size,
                format == TJPF_GRAY ? TJSAMP_GRAY : TJSAMP_444, 95, flags);
    std::vector<std::uint8_t> bytes(out, out + size);
    tjFree(out);
    tjDestroy(handle);
    return bytes;
}

inline std::vector<std::uint8_t> jpeg(int width, int height, bool colour = true, int flags = 0) {
    return jpegOf(gradient(width, height, colour ? 3 : 1), width, height, colour ? TJPF_RGB : TJPF_GRAY, flags);
}

// The JPEG with an Exif segment behind its first marker that has one entry: a tag (Orientation is 0x112) of one u16.
inline std::vector<std::uint8_t> withExif(std::vector<std::uint8_t> jpeg, int value, bool littleEndian = true,
                                          int tag = 0x112) {
    std::vector<std::uint8_t> tiff = {0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0};
    const auto put = [&](std::uint32_t number, int bytes) {
        for (int i = 0; i < bytes; ++i)
            tiff.push_back(static_cast<std::uint8_t>(number >> 8 * (littleEndian ? i : bytes - 1 - i)));
    };
    tiff.insert(tiff.end(), 2, littleEndian ? 'I' : 'M');
    put(42, 2), put(8, 4);                                                     // the directory's place
    put(1, 2), put(static_cast<std::uint32_t>(tag), 2), put(3, 2), put(1, 4);  // one entry, a u16
    put(static_cast<std::uint32_t>(value), 2), put(0, 2), put(0, 4);
    jpeg.insert(jpeg.begin() + 2, tiff.begin(), tiff.end());
    return jpeg;
}

// `pixels` are rows of the given libpng colour type at `depth` bits.
inline std::vector<std::uint8_t> pngOf(std::vector<std::uint8_t> pixels, int width, int height, int type, int depth = 8,
                                       int interlace = PNG_INTERLACE_NONE) {
    std::vector<std::uint8_t> bytes;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(
        png, &bytes,
        [](png_structp at, png_bytep data, std::size_t size) {
            auto& out = *static_cast<std::vector<std::uint8_t>*>(png_get_io_ptr(at));
            out.insert(out.end(), data, data + size);
        },
        nullptr);
    png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), depth, type, interlace,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (type == PNG_COLOR_TYPE_PALETTE) {
        png_color palette[256];
        for (int i = 0; i < 256; ++i) palette[i] = {static_cast<png_byte>(i), static_cast<png_byte>(255 - i), 7};
        png_set_PLTE(png, info, palette, 256);
    }
    png_write_info(png, info);
    std::vector<png_bytep> rows;
    for (int y = 0; y < height; ++y)
        rows.push_back(&pixels[static_cast<std::size_t>(y) * pixels.size() / static_cast<std::size_t>(height)]);
    png_write_image(png, rows.data());
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return bytes;
}

inline std::vector<std::uint8_t> png(int width, int height, bool colour = true) {
    return pngOf(gradient(width, height, colour ? 3 : 1), width, height,
                 colour ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY);
}

}  // namespace lockstep::test
