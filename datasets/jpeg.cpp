#include <cstdio>  // jpeglib.h needs it

#include <jpeglib.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstring>
#include <string_view>

#include "datasets/exif.h"
#include "datasets/image_codec.h"
#include "engine/core/result.h"

namespace lockstep {

namespace {

constexpr int kMostScans = 500;  // a progressive file of more is one that was made to keep decoders busy

// A rectangle of pixels as they are stored, at the decoder's scale.
struct Window {
    int left = 0, top = 0, right = 0, bottom = 0;
};

// libjpeg leaves through longjmp: the functions that call it have no objects to destroy, and report by their result.
class JpegReader {
public:
    JpegReader(std::span<const std::uint8_t> bytes, const std::filesystem::path& file) : m_file(file) {
        m_jpeg.err = jpeg_std_error(&m_errors);
        m_jpeg.client_data = this;
        m_errors.error_exit = onError;
        m_errors.emit_message = onMessage;
        m_progress.progress_monitor = onProgress;
        if (!create() || !readHeader(bytes)) {
            jpeg_destroy_decompress(&m_jpeg);
            throw ProblemError(failure());
        }
        m_orientation = exifOrientation(bytes);
    }
    JpegReader(const JpegReader&) = delete;
    JpegReader& operator=(const JpegReader&) = delete;
    ~JpegReader() { jpeg_destroy_decompress(&m_jpeg); }

    int orientation() const { return m_orientation; }
    PictureSize stored() const {
        return {m_jpeg.num_components == 1 ? 1 : 3, static_cast<int>(m_jpeg.image_height),
                static_cast<int>(m_jpeg.image_width)};
    }
    PictureSize size() const {  // upright
        PictureSize size = stored();
        if (liesOnItsSide(m_orientation)) std::swap(size.height, size.width);
        return size;
    }

    // At 1 / `reduction` of its size; of `window` as much as can be left out is. Afterwards the window is what was
    // decoded.
    void decode(int channels, int reduction, Decode how, Window& window, Picture& into) {
        m_jpeg.scale_num = 1, m_jpeg.scale_denom = static_cast<unsigned>(reduction);
        const bool isPrinted = m_jpeg.jpeg_color_space == JCS_CMYK || m_jpeg.jpeg_color_space == JCS_YCCK;
        m_jpeg.out_color_space = isPrinted ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
        if (!start()) throw ProblemError(failure());
        into.channels = isPrinted ? 4 : channels;  // for now
        if (!readRows(how, window, into)) throw ProblemError(failure());
        into.channels = channels;
        if (isPrinted) fromPrint(into, m_jpeg.saw_Adobe_marker != 0);
    }

private:
    static JpegReader& self(j_common_ptr jpeg) { return *static_cast<JpegReader*>(jpeg->client_data); }

    [[noreturn]] static void onError(j_common_ptr jpeg) {
        JpegReader& reader = self(jpeg);
        reader.m_errors.format_message(jpeg, reader.m_message);
        std::longjmp(reader.m_escape, 1);
    }

    // A warning is an error: half a picture is no picture.
    static void onMessage(j_common_ptr jpeg, int level) {
        if (level < 0) onError(jpeg);
    }

    static void onProgress(j_common_ptr jpeg) {
        JpegReader& reader = self(jpeg);
        if (!jpeg->is_decompressor || reader.m_jpeg.input_scan_number <= kMostScans) return;
        std::snprintf(reader.m_message, sizeof reader.m_message, "it has more than %d scans", kMostScans);
        std::longjmp(reader.m_escape, 1);
    }

    bool create() {
        if (setjmp(m_escape)) return false;
        jpeg_create_decompress(&m_jpeg);  // keeps err and client_data
        m_jpeg.progress = &m_progress;
        return true;
    }

    bool readHeader(std::span<const std::uint8_t> bytes) {
        if (setjmp(m_escape)) return false;
        jpeg_mem_src(&m_jpeg, bytes.data(), bytes.size());
        if (jpeg_read_header(&m_jpeg, FALSE) == JPEG_HEADER_OK) return true;
        std::strcpy(m_message, "it ends before the picture begins");  // a file of tables is a JPEG file, too
        m_isTruncated = true;
        return false;
    }

    bool start() {
        if (setjmp(m_escape)) return false;
        jpeg_start_decompress(&m_jpeg);
        return true;
    }

    bool readRows(Decode how, Window& window, Picture& into) {
        const int wide = static_cast<int>(m_jpeg.output_width), high = static_cast<int>(m_jpeg.output_height);
        window = {std::clamp(window.left, 0, wide - 1), std::clamp(window.top, 0, high - 1),
                  std::clamp(window.right, 1, wide), std::clamp(window.bottom, 1, high)};
        if (how == Decode::Exact) window.left = 0, window.right = wide;
        into.height = window.bottom - window.top, into.width = window.right - window.left;
        // The decoder widens what is cropped to whole blocks.
        constexpr int kBlocks = 2 * 4 * DCTSIZE;
        into.reserve(static_cast<std::size_t>(into.channels) *
                     static_cast<std::size_t>(std::min(into.width + kBlocks, wide)) *
                     static_cast<std::size_t>(into.height));
        return readWindow(how, window, into);
    }

    bool readWindow(Decode how, Window& window, Picture& into) {
        if (setjmp(m_escape)) return false;
        if (how == Decode::Fast && window.right - window.left < static_cast<int>(m_jpeg.output_width)) {
            auto left = static_cast<JDIMENSION>(window.left),
                 wide = static_cast<JDIMENSION>(window.right - window.left);
            jpeg_crop_scanline(&m_jpeg, &left, &wide);
            window.left = static_cast<int>(left), window.right = window.left + static_cast<int>(wide);
            into.width = static_cast<int>(wide);
        }
        if (how == Decode::Fast && window.top > 0) jpeg_skip_scanlines(&m_jpeg, static_cast<JDIMENSION>(window.top));
        while (static_cast<int>(m_jpeg.output_scanline) < window.bottom) {
            const int row = std::max(static_cast<int>(m_jpeg.output_scanline) - window.top, 0);
            JSAMPROW to = into.row(row);
            jpeg_read_scanlines(&m_jpeg, &to, 1);
        }
        jpeg_abort_decompress(&m_jpeg);
        return true;
    }

    // From cyan, magenta, yellow and black, in the place of them; Adobe's programs store them the other way round.
    static void fromPrint(Picture& picture, bool isInverted) {
        const std::size_t count = static_cast<std::size_t>(picture.height) * static_cast<std::size_t>(picture.width);
        std::uint8_t* from = picture.pixels.data();
        std::uint8_t* to = from;
        const auto light = [&](std::size_t i, std::size_t c) {
            return isInverted ? from[4 * i + c] : 255 - from[4 * i + c];
        };
        for (std::size_t i = 0; i < count; ++i) {
            int colour[3];
            for (std::size_t c = 0; c < 3; ++c) colour[c] = (light(i, c) * light(i, 3) + 127) / 255;
            if (picture.channels == 1) to[i] = greyOf(colour[0], colour[1], colour[2]);
            else
                for (std::size_t c = 0; c < 3; ++c) to[3 * i + c] = static_cast<std::uint8_t>(colour[c]);
        }
    }

    // libjpeg says "Premature end of JPEG file", "Corrupt JPEG data: premature end of data segment" or "Invalid JPEG
    // file structure" with a missing end when bytes are missing.
    Problem failure() const {
        const bool isTruncated =
            m_isTruncated || std::string_view(m_message).find("remature end") != std::string_view::npos;
        return {m_file.string(), isTruncated ? "image.truncated" : "image.corrupt", {m_message}};
    }

    const std::filesystem::path& m_file;
    jpeg_decompress_struct m_jpeg{};
    jpeg_error_mgr m_errors{};
    jpeg_progress_mgr m_progress{};
    std::jmp_buf m_escape{};
    char m_message[JMSG_LENGTH_MAX] = {};
    bool m_isTruncated = false;
    int m_orientation = 1;
};

// Where Exif's orientation puts row 0 and column 0 of what is stored: see upright().
struct Turn {
    bool swaps, fromBottom, fromRight;
    explicit Turn(int orientation)
        : swaps(liesOnItsSide(orientation)),
          fromBottom(orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8),
          fromRight(orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7) {}

    // A box of the upright picture of that size, as it is stored; and back, of the stored size.
    PictureBox stored(PictureBox box, double height, double width) const {
        if (fromRight) box = {width - box.right, box.top, width - box.left, box.bottom};
        if (fromBottom) box = {box.left, height - box.bottom, box.right, height - box.top};
        return swaps ? PictureBox{box.top, box.left, box.bottom, box.right} : box;
    }
    PictureBox upright(PictureBox box, double height, double width) const {
        if (swaps) box = {box.top, box.left, box.bottom, box.right}, std::swap(height, width);
        if (fromRight) box = {width - box.right, box.top, width - box.left, box.bottom};
        if (fromBottom) box = {box.left, height - box.bottom, box.right, height - box.top};
        return box;
    }
};

// The largest at which the box is still twice as large as what it becomes, so that a filter makes the rest: a box that
// were reduced to the very size of it would show fine patterns sharper than they should be.
int reductionFor(const PictureBox& box, const DecodeWish& wish) {
    int reduction = 1;
    while (reduction < 8 && box.height() >= 4 * reduction * wish.height && box.width() >= 4 * reduction * wish.width)
        reduction *= 2;
    return reduction;
}

PictureSize saneSize(const JpegReader& reader, const std::filesystem::path& file) {
    const PictureSize size = reader.size();
    requireSaneSize(static_cast<std::uint64_t>(size.width), static_cast<std::uint64_t>(size.height), file);
    return size;
}

}  // namespace

PictureSize sizeOfJpeg(std::span<const std::uint8_t> bytes, const std::filesystem::path& file) {
    const JpegReader reader(bytes, file);
    return saneSize(reader, file);
}

void decodeJpeg(std::span<const std::uint8_t> bytes, const std::filesystem::path& file, const DecodeWish& wish,
                DecodedPart& into) {
    JpegReader reader(bytes, file);
    const PictureSize size = saneSize(reader, file);
    const PictureBox all{0, 0, static_cast<double>(size.width), static_cast<double>(size.height)};
    const PictureBox wanted = wish.part ? wish.part(size) : all;
    const bool isScaled = wish.part && wish.decode == Decode::Fast;
    const int reduction = isScaled ? reductionFor(wanted, wish) : 1;
    const Turn turn(reader.orientation());
    PictureBox box = turn.stored(wanted, size.height, size.width);
    box = {box.left / reduction, box.top / reduction, box.right / reduction, box.bottom / reduction};
    // Pixels beside the box that count, too, where it is reduced; one more for what lies between two.
    const double beside =
        wish.part ? std::ceil(wish.reach * std::max({1.0, box.width() / wish.width, box.height() / wish.height,
                                                     box.width() / wish.height, box.height() / wish.width})) +
                        1
                  : 0;
    Window window{static_cast<int>(box.left - beside), static_cast<int>(box.top - beside),
                  static_cast<int>(std::ceil(box.right + beside)), static_cast<int>(std::ceil(box.bottom + beside))};
    reader.decode(wish.channels, reduction, wish.decode, window, into.picture);
    box = {box.left - window.left, box.top - window.top, box.right - window.left, box.bottom - window.top};
    into.box = turn.upright(box, into.picture.height, into.picture.width);
    if (reader.orientation() > 1) into.picture = upright(std::move(into.picture), reader.orientation());
    into.view = into.picture.view();
}

}  // namespace lockstep
