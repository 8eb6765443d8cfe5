#include "datasets/idx.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "datasets/memory_dataset.h"
#include "engine/core/result.h"

namespace lockstep {

namespace {

constexpr std::uint32_t kImagesMagic = 0x00000803, kLabelsMagic = 0x00000801;

struct Axis {
    const char* name;
    std::uint32_t largest;
};
constexpr Axis kCount{"count", 0x7fffffff}, kHeight{"height", 4096}, kWidth{"width", 4096};

std::string hex(std::uint32_t value) {
    char text[16];
    std::snprintf(text, sizeof text, "%08x", value);
    return text;
}

// One file being read.
class IdxReader {
public:
    IdxReader(const std::filesystem::path& file, std::unique_ptr<ByteStream> bytes)
        : m_file(file.string()), m_stream(std::move(bytes)) {}

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
            fail("idx.over-long",
                 {std::to_string(whole), m_stream->exact() ? std::to_string(m_stream->bound()) : "more"});
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
    std::uint64_t m_header = 0;  // bytes read so far, all of them header
};

struct NameParts {
    std::string_view collection;
    bool train = false, images = false, packed = false;
};

// Takes the first of `endings` that `name` has off its end; which one, or -1.
int takeEnding(std::string_view& name, std::initializer_list<std::string_view> endings) {
    int which = 0;
    for (const std::string_view ending : endings) {
        if (name.ends_with(ending)) {
            name.remove_suffix(ending.size());
            return which;
        }
        ++which;
    }
    return -1;
}

std::optional<NameParts> namePartsOf(std::string_view name) {
    NameParts parts;
    parts.packed = takeEnding(name, {".gz"}) == 0;
    const int kind =
        takeEnding(name, {"-images-idx3-ubyte", "-images.idx3-ubyte", "-labels-idx1-ubyte", "-labels.idx1-ubyte"});
    const int split = takeEnding(name, {"train", "t10k", "test"});
    if (kind < 0 || split < 0 || (!name.empty() && takeEnding(name, {"-"}) < 0)) return std::nullopt;
    parts.collection = name;
    parts.train = split == 0;
    parts.images = kind < 2;
    return parts;
}

std::filesystem::path& fileOf(IdxFiles& files, const NameParts& parts) {
    if (parts.train) return parts.images ? files.trainImages : files.trainLabels;
    return parts.images ? files.testImages : files.testLabels;
}

// By folder and name.
std::vector<IdxFiles> collectionsIn(const std::vector<std::filesystem::path>& all) {
    std::map<std::pair<std::filesystem::path, std::string>, IdxFiles> found;
    for (const std::filesystem::path& each : all) {
        const std::string name = each.filename().string();
        const auto parts = namePartsOf(name);
        if (!parts) continue;
        IdxFiles& files = found[{each.parent_path(), std::string(parts->collection)}];
        files.name = parts->collection;
        auto& file = fileOf(files, *parts);
        if (file.empty() || !parts->packed) file = each;
    }
    std::vector<IdxFiles> out;
    for (auto& [place, files] : found) out.push_back(std::move(files));
    return out;
}

bool liesOnItsSide(const std::filesystem::path& file) { return file.filename().string().starts_with("emnist-"); }

void transpose(IdxImages& images) {
    const auto height = static_cast<std::size_t>(images.height), width = static_cast<std::size_t>(images.width);
    std::vector<std::uint8_t> turned(height * width);
    for (std::size_t start = 0; start < images.pixels.size(); start += height * width) {
        for (std::size_t y = 0; y < height; ++y) {
            for (std::size_t x = 0; x < width; ++x) turned[x * height + y] = images.pixels[start + y * width + x];
        }
        std::ranges::copy(turned, images.pixels.begin() + static_cast<std::ptrdiff_t>(start));
    }
    std::swap(images.height, images.width);
}

}  // namespace

IdxImages readIdxImages(const std::filesystem::path& file) { return readIdxImages(file, openUnpacked(file)); }

IdxImages readIdxImages(const std::filesystem::path& file, std::unique_ptr<ByteStream> bytes) {
    IdxReader reader(file, std::move(bytes));
    IdxImages images;
    reader.magic(kImagesMagic);
    images.count = reader.axis(kCount);
    images.height = static_cast<int>(reader.axis(kHeight));
    images.width = static_cast<int>(reader.axis(kWidth));
    images.pixels = reader.data(static_cast<std::uint64_t>(images.count) * static_cast<std::uint64_t>(images.height) *
                                static_cast<std::uint64_t>(images.width));
    if (liesOnItsSide(file)) transpose(images);
    return images;
}

std::vector<std::uint8_t> readIdxLabels(const std::filesystem::path& file) {
    IdxReader reader(file, openUnpacked(file));
    reader.magic(kLabelsMagic);
    return reader.data(reader.axis(kCount));
}

std::vector<IdxFiles> findIdxFiles(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& item : std::filesystem::directory_iterator(folder)) files.push_back(item.path());
    return collectionsIn(files);
}

bool isNamedAsIdxImages(const std::filesystem::path& file) {
    const std::string name = file.filename().string();
    const auto parts = namePartsOf(name);
    return parts && parts->images;
}

bool beginsAsIdxImages(const std::filesystem::path& file) {
    try {
        return beginsAsIdxImages(*openUnpacked(file));
    } catch (const ProblemError&) {
        return false;
    }
}

bool beginsAsIdxImages(ByteStream& bytes) {
    constexpr std::array<std::uint8_t, 4> kMagic{0, 0, kImagesMagic >> 8, kImagesMagic & 0xff};
    std::array<std::uint8_t, 4> magic{};
    return bytes.read(magic) == magic.size() && magic == kMagic;
}

std::vector<std::filesystem::path> idxToAskAbout(std::vector<std::filesystem::path> files) {
    std::vector<std::filesystem::path> asked;
    for (const IdxFiles& each : collectionsIn(files)) {
        const auto& images = each.testImages.empty() ? each.trainImages : each.testImages;
        if (!images.empty()) asked.push_back(images);
    }
    std::ranges::copy_if(files, std::back_inserter(asked), std::not_fn(isNamedAsIdxImages));
    std::ranges::sort(asked);
    return asked;
}

}  // namespace lockstep
