#include "pnm_image.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace pnm {

namespace {

constexpr int kLargest = 8192;  // pixels a side

class Reader {
public:
    explicit Reader(const std::filesystem::path& file) : m_file(file) {
        std::ifstream in(file, std::ios::binary);
        if (!in) fail("it cannot be opened");
        m_bytes.assign(std::istreambuf_iterator<char>(in), {});
    }

    Image image() {
        if (m_bytes.rfind("P5", 0) != 0 && m_bytes.rfind("P6", 0) != 0) fail("it is not a binary PGM or PPM");
        Image image;
        image.channels = m_bytes[1] == '5' ? 1 : 3;
        m_at = 2;
        image.width = number("width", kLargest);
        image.height = number("height", kLargest);
        const int top = number("number of levels", 255);
        ++m_at;  // the one white space before the pixels
        takePixels(image, top);
        return image;
    }

private:
    [[noreturn]] void fail(const std::string& why) const { throw std::runtime_error(m_file.string() + ": " + why); }

    void skipSpaceAndComments() {
        while (m_at < m_bytes.size() && (std::isspace(byte()) || byte() == '#')) {
            if (byte() == '#') m_at = std::min(m_bytes.find('\n', m_at), m_bytes.size());
            else ++m_at;
        }
    }

    int number(const char* what, int most) {
        skipSpaceAndComments();
        int value = 0;
        const std::size_t begin = m_at;
        for (; m_at < m_bytes.size() && std::isdigit(byte()) && value <= most; ++m_at)
            value = value * 10 + (byte() - '0');
        if (m_at == begin || value < 1 || value > most)
            fail(std::string("its ") + what + " is not between 1 and " + std::to_string(most));
        return value;
    }

    void takePixels(Image& image, int top) {
        const auto channels = static_cast<std::size_t>(image.channels);
        const std::size_t plane = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
        if (m_at > m_bytes.size() || m_bytes.size() - m_at != plane * channels)
            fail("its length does not fit its size in pixels");
        image.pixels.resize(plane * channels);
        for (std::size_t i = 0; i < plane * channels; ++i, ++m_at) {
            if (byte() > top) fail("a pixel is brighter than the file's own limit");
            image.pixels[i % channels * plane + i / channels] = static_cast<std::uint8_t>(byte() * 255 / top);
        }
    }

    int byte() const { return static_cast<unsigned char>(m_bytes[m_at]); }

    std::filesystem::path m_file;
    std::string m_bytes;
    std::size_t m_at = 0;
};

}  // namespace

Image read(const std::filesystem::path& file) { return Reader(file).image(); }

bool hasKnownEnding(const std::filesystem::path& file) {
    const auto ending = file.extension();
    return ending == ".pgm" || ending == ".ppm" || ending == ".pnm";
}

}  // namespace pnm
