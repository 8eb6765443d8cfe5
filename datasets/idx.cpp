#include "datasets/idx.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <regex>

#include "datasets/byte_stream.h"
#include "datasets/memory_dataset.h"
#include "engine/core/result.h"

namespace lockstep {

namespace {

constexpr std::uint32_t kImagesMagic = 0x00000803, kLabelsMagic = 0x00000801;

struct Axis { const char* name; std::uint32_t largest; };
constexpr Axis kCount{"count", 0x7fffffff}, kHeight{"height", 4096}, kWidth{"width", 4096};

std::string hex(std::uint32_t value) {
    char text[16];
    std::snprintf(text, sizeof text, "%08x", value);
    return text;
}

// One file being read.
class IdxReader {
public:
    explicit IdxReader(const std::filesystem::path& file) : m_file(file.string()), m_stream(openUnpacked(file)) {}

    void magic(std::uint32_t expected) {
        const std::uint32_t found = word();
        if (found != expected) fail("idx.wrong-magic", {hex(found), hex(expected)});
    }

    std::uint32_t axis(const Axis& axis) {
        const std::uint32_t extent = word();
        if (extent == 0 || extent > axis.largest) {
            fail("idx.bad-dimension", {axis.name, std::to_string(extent), "1", std::to_string(axis.largest)});
        }
        return extent;
    }

    std::vector<std::uint8_t> data(std::uint64_t bytes) {
        const std::uint64_t whole = m_header + bytes;
        if (whole > m_stream->bound()) {
            fail("idx.truncated",
                 {std::to_string(whole), (m_stream->exact() ? "" : "at most ") + std::to_string(m_stream->bound())});
        }
        requireMemory(m_file, bytes);
        std::vector<std::uint8_t> out(bytes);
        const std::size_t got = m_stream->read(out);
        if (got < bytes) fail("idx.truncated", {std::to_string(whole), std::to_string(m_header + got)});
        std::uint8_t more = 0;
        if (m_stream->read({&more, 1}) > 0) {
            fail("idx.over-long", {std::to_string(whole), m_stream->exact() ? std::to_string(m_stream->bound()) : "more"});
        }
        return out;
    }

private:
    std::uint32_t word() {
        std::array<std::uint8_t, 4> b{};
        const std::size_t got = m_stream->read(b);
        if (got < 4) fail("idx.truncated", {std::to_string(m_header + 4), std::to_string(m_header + got)});
        m_header += 4;
        return std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | b[3];
    }

    [[noreturn]] void fail(const char* code, std::vector<std::string> args) const {
        throw ProblemError({m_file, code, std::move(args)});
    }

    std::string m_file;
    std::unique_ptr<ByteStream> m_stream;
    std::uint64_t m_header = 0;                          // bytes read so far, all of them header
};

std::filesystem::path& fileOf(IdxFiles& files, bool train, bool images) {
    if (train) return images ? files.trainImages : files.trainLabels;
    return images ? files.testImages : files.testLabels;
}

}  // namespace

IdxImages readIdxImages(const std::filesystem::path& file) {
    IdxReader reader(file);
    IdxImages images;
    reader.magic(kImagesMagic);
    images.count = reader.axis(kCount);
    images.height = static_cast<int>(reader.axis(kHeight));
    images.width = static_cast<int>(reader.axis(kWidth));
    images.pixels = reader.data(static_cast<std::uint64_t>(images.count) * static_cast<std::uint64_t>(images.height) *
                                static_cast<std::uint64_t>(images.width));
    return images;
}

std::vector<std::uint8_t> readIdxLabels(const std::filesystem::path& file) {
    IdxReader reader(file);
    reader.magic(kLabelsMagic);
    return reader.data(reader.axis(kCount));
}

std::vector<IdxFiles> findIdxFiles(const std::filesystem::path& folder) {
    static const std::regex pattern("(?:(.+)-)?(train|t10k|test)-(images|labels)[-.]idx[13]-ubyte(\\.gz)?");
    std::map<std::string, IdxFiles> found;
    for (const auto& item : std::filesystem::directory_iterator(folder)) {
        const std::string name = item.path().filename().string();
        std::smatch parts;
        if (!std::regex_match(name, parts, pattern)) continue;
        IdxFiles& files = found[parts[1]];
        files.name = parts[1];
        auto& file = fileOf(files, parts[2] == "train", parts[3] == "images");
        if (file.empty() || !parts[4].matched) file = item.path();
    }
    std::vector<IdxFiles> out;
    for (auto& [name, files] : found) out.push_back(std::move(files));
    return out;
}

}  // namespace lockstep
