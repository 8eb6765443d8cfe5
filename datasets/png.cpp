#include <png.h>

#include <csetjmp>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "datasets/exif.h"
#include "datasets/image_codec.h"
#include "engine/core/result.h"

namespace lockstep {

namespace {

// libpng leaves through longjmp: the functions that call it have no objects to destroy, and report by their result.
class PngReader {
public:
    PngReader(std::span<const std::uint8_t> bytes, const std::filesystem::path& file) : m_bytes(bytes), m_file(file) {
        m_png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, onError, onWarning);
        m_info = m_png ? png_create_info_struct(m_png) : nullptr;
        if (!m_info) {
            png_destroy_read_struct(&m_png, nullptr, nullptr);
            throw std::bad_alloc();
        }
        png_set_read_fn(m_png, this, onRead);
        png_set_user_limits(m_png, 1 << 20, 1 << 20);
        // Skips what is no part of the pixels: text, profiles… whose claimed lengths libpng would believe.
        png_set_keep_unknown_chunks(m_png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
        if (!readHeader()) {
            Problem problem = failure();
            png_destroy_read_struct(&m_png, &m_info, nullptr);
            throw ProblemError(std::move(problem));
        }
    }
    PngReader(const PngReader&) = delete;
    PngReader& operator=(const PngReader&) = delete;
    ~PngReader() { png_destroy_read_struct(&m_png, &m_info, nullptr); }

    PictureSize size() const {
        return {png_get_channels(m_png, m_info), static_cast<int>(png_get_image_height(m_png, m_info)),
                static_cast<int>(png_get_image_width(m_png, m_info))};
    }

    void rows(std::vector<png_bytep>& rows) {
        if (!readRows(rows.data())) throw ProblemError(failure());
    }

private:
    static void onRead(png_structp png, png_bytep out, std::size_t count) {
        auto& self = *static_cast<PngReader*>(png_get_io_ptr(png));
        if (count > self.m_bytes.size() - self.m_at) {
            self.m_truncated = true;
            png_error(png, "the file ends too early");
        }
        std::memcpy(out, self.m_bytes.data() + self.m_at, count);
        self.m_at += count;
    }

    [[noreturn]] static void onError(png_structp png, png_const_charp message) {
        auto& self = *static_cast<PngReader*>(png_get_error_ptr(png));
        std::strncpy(self.m_message, message, sizeof self.m_message - 1);
        png_longjmp(png, 1);
    }

    static void onWarning(png_structp, png_const_charp) {}

    // After this, rows are 8 bits a channel, grey or colour, without transparency.
    bool readHeader() {
        if (setjmp(png_jmpbuf(m_png))) return false;
        png_read_info(m_png, m_info);
        png_set_expand(m_png);
        png_set_scale_16(m_png);
        png_set_strip_alpha(m_png);
        png_set_interlace_handling(m_png);
        png_read_update_info(m_png, m_info);
        return true;
    }

    bool readRows(png_bytep* rows) {
        if (setjmp(png_jmpbuf(m_png))) return false;
        png_read_image(m_png, rows);
        png_read_end(m_png, nullptr);
        return true;
    }

    Problem failure() const {
        return {m_file.string(), m_truncated ? "image.truncated" : "image.corrupt", {m_message}};
    }

    std::span<const std::uint8_t> m_bytes;
    const std::filesystem::path& m_file;
    std::size_t m_at = 0;
    bool m_truncated = false;
    char m_message[128] = {};
    png_structp m_png = nullptr;
    png_infop m_info = nullptr;
};

}  // namespace

PictureSize sizeOfPng(std::span<const std::uint8_t> bytes, const std::filesystem::path& file) {
    PictureSize size = PngReader(bytes, file).size();
    if (liesOnItsSide(exifOrientationOfPng(bytes))) std::swap(size.height, size.width);
    return size;
}

void decodePng(std::span<const std::uint8_t> bytes, const std::filesystem::path& file, const DecodeWish& wish,
               DecodedPart& into) {
    PngReader reader(bytes, file);
    PictureSize size = reader.size();
    requireSaneSize(static_cast<std::uint64_t>(size.width), static_cast<std::uint64_t>(size.height), file);
    if (size.channels != 1 && size.channels != 3) {
        throw ProblemError({file.string(), "image.unsupported-colour", {std::to_string(size.channels) + " channels"}});
    }
    into.picture.channels = size.channels;
    into.picture.setSize(size.height, size.width);
    std::vector<png_bytep> rows;
    for (int y = 0; y < size.height; ++y) rows.push_back(into.picture.row(y));
    reader.rows(rows);
    if (const int orientation = exifOrientationOfPng(bytes); orientation > 1) {
        into.picture = upright(std::move(into.picture), orientation);
        size.height = into.picture.height, size.width = into.picture.width;
    }
    into.view = into.picture.view();
    into.box = wish.part ? wish.part(size)
                         : PictureBox{0, 0, static_cast<double>(size.width), static_cast<double>(size.height)};
}

}  // namespace lockstep
