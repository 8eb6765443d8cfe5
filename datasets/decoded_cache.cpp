#include <array>
#include <cstring>

#include "datasets/byte_stream.h"
#include "datasets/decoded.h"
#include "engine/core/content_hash.h"
#include "engine/core/durable_file.h"

namespace lockstep {

namespace {

constexpr std::array<char, 8> kMagic{'L', 'S', 'D', 'E', 'C', 'O', 'D', '4'};

// Little-endian on every machine that we build for; a cache never leaves its machine.
struct Header {
    std::array<char, 8> magic = kMagic;
    std::uint64_t key = 0, content = 0, pixelBytes = 0, failureBytes = 0, checksum = 0;
};

// Failures as numbers and strings with their lengths before them.
class Writer {
public:
    void number(std::uint64_t value) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
        out.insert(out.end(), bytes, bytes + sizeof value);
    }
    void text(const std::string& value) {
        number(value.size());
        out.insert(out.end(), value.begin(), value.end());
    }
    std::vector<std::uint8_t> out;
};

class Reader {
public:
    explicit Reader(std::span<const std::uint8_t> bytes) : m_left(bytes) {}
    std::uint64_t number() {
        std::uint64_t value = 0;
        if (!need(sizeof value)) return 0;
        std::memcpy(&value, m_left.data(), sizeof value);
        m_left = m_left.subspan(sizeof value);
        return value;
    }
    std::string text() {
        const std::uint64_t size = number();
        if (!need(size)) return {};
        std::string value(m_left.begin(), m_left.begin() + static_cast<std::ptrdiff_t>(size));
        m_left = m_left.subspan(size);
        return value;
    }
    bool good() const { return m_good; }
    bool atEnd() const { return m_good && m_left.empty(); }

private:
    bool need(std::uint64_t bytes) { return m_good = m_good && bytes <= m_left.size(); }
    std::span<const std::uint8_t> m_left;
    bool m_good = true;
};

std::vector<std::uint8_t> written(const std::vector<DecodedImages::Failure>& failures) {
    Writer writer;
    for (const auto& [index, reason] : failures) {
        writer.number(static_cast<std::uint64_t>(index));
        writer.text(reason.field);
        writer.text(reason.code);
        writer.number(reason.args.size());
        for (const std::string& arg : reason.args) writer.text(arg);
    }
    return std::move(writer.out);
}

std::optional<std::vector<DecodedImages::Failure>> readFailures(std::span<const std::uint8_t> bytes,
                                                                std::size_t files) {
    Reader reader(bytes);
    std::vector<DecodedImages::Failure> failures;
    while (reader.good() && !reader.atEnd()) {
        DecodedImages::Failure failure;
        failure.index = static_cast<std::int64_t>(reader.number());
        failure.reason.field = reader.text();
        failure.reason.code = reader.text();
        const std::uint64_t args = reader.number();
        for (std::uint64_t i = 0; i < args && reader.good(); ++i) failure.reason.args.push_back(reader.text());
        const std::int64_t before = failures.empty() ? -1 : failures.back().index;
        if (failure.index <= before || failure.index >= static_cast<std::int64_t>(files)) return std::nullopt;
        failures.push_back(std::move(failure));
    }
    if (!reader.good()) return std::nullopt;
    return failures;
}

std::uint64_t checksum(const Header& header, std::span<const std::uint8_t> pixels,
                       std::span<const std::uint8_t> failures) {
    ContentHash hash;
    hash.add(header.key);
    hash.add(header.content);
    hash.add(pixels);
    hash.add(failures);
    return hash.value();
}

std::optional<DecodedImages> load(const std::filesystem::path& cache, std::uint64_t key, std::size_t files,
                                  std::size_t imageSize) {
    const auto stream = openPlain(cache);
    Header header;
    const std::span head(reinterpret_cast<std::uint8_t*>(&header), sizeof header);
    if (stream->read(head) < head.size() || header.magic != kMagic || header.key != key) return std::nullopt;
    const std::uint64_t rest = stream->bound() - sizeof header;
    if (header.pixelBytes > files * imageSize || header.pixelBytes > rest ||
        header.failureBytes != rest - header.pixelBytes) {
        return std::nullopt;
    }
    DecodedImages images;
    images.content = header.content;
    std::vector<std::uint8_t> failures(header.failureBytes);
    images.pixels.resize(header.pixelBytes);
    if (stream->read(images.pixels) < images.pixels.size() || stream->read(failures) < failures.size())
        return std::nullopt;
    if (header.checksum != checksum(header, images.pixels, failures)) return std::nullopt;
    auto list = readFailures(failures, files);
    if (!list || (files - list->size()) * imageSize != images.pixels.size()) return std::nullopt;
    images.failures = std::move(*list);
    return images;
}

}  // namespace

std::uint64_t decodedKey(const std::filesystem::path& root, std::span<const LabelledFile> files,
                         const DecodedFormat& format) {
    ContentHash hash;
    hash.add(std::string_view(root.native()));
    hash.add(static_cast<std::uint64_t>(format.size) << 8 | static_cast<std::uint64_t>(format.channels));
    hash.add(std::uint64_t{format.decode == Decode::Exact});
    for (const LabelledFile& file : files) {
        hash.add(std::string_view(file.name));
        hash.add(file.bytes);
        hash.add(static_cast<std::uint64_t>(file.modifiedNs));
        hash.add(static_cast<std::uint64_t>(file.changedNs));
    }
    return hash.value();
}

std::optional<DecodedImages> loadDecoded(const std::filesystem::path& cache, std::uint64_t key,
                                         std::span<const LabelledFile> files, const DecodedFormat& format) {
    try {
        return load(cache, key, files.size(), format.bytes());
    } catch (const ProblemError&) {
        return std::nullopt;  // not there, or not readable: decoded anew
    }
}

void storeDecoded(const std::filesystem::path& cache, std::uint64_t key, const DecodedImages& images) {
    const auto failures = written(images.failures);
    Header header;
    header.key = key;
    header.content = images.content;
    header.pixelBytes = images.pixels.size();
    header.failureBytes = failures.size();
    header.checksum = checksum(header, images.pixels, failures);
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(&header, 1)),
                                                 std::as_bytes(std::span(images.pixels)),
                                                 std::as_bytes(std::span(failures))};
    replaceFile(cache, pieces);
}

}  // namespace lockstep
