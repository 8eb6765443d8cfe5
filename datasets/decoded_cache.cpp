#include <array>
#include <cstdio>

#include "datasets/byte_stream.h"
#include "datasets/decoded.h"
#include "datasets/words_in_bytes.h"
#include "engine/core/content_hash.h"
#include "engine/core/durable_file.h"
#include "engine/core/random.h"

namespace lockstep {

namespace {

constexpr std::array<char, 8> kCacheMagic{'L', 'S', 'D', 'E', 'C', 'O', 'D', '5'};

// Little-endian on every machine that we build for; a cache never leaves its machine.
struct CacheHeader {
    std::array<char, 8> magic = kCacheMagic;
    std::uint64_t key = 0, content = 0, pixelBytes = 0, failureBytes = 0, checksum = 0;
};

std::vector<std::uint8_t> written(const std::vector<DecodedImages::Failure>& failures) {
    WordWriter writer;
    for (const auto& [index, reason] : failures) {
        writer.number(static_cast<std::uint64_t>(index));
        writer.problem(reason);
    }
    return std::move(writer.out);
}

std::optional<std::vector<DecodedImages::Failure>> readFailures(std::span<const std::uint8_t> bytes,
                                                                std::size_t files) {
    WordReader reader(bytes);
    std::vector<DecodedImages::Failure> failures;
    while (reader.good() && !reader.atEnd()) {
        DecodedImages::Failure failure;
        failure.index = static_cast<std::int64_t>(reader.number());
        failure.reason = reader.problem();
        const std::int64_t before = failures.empty() ? -1 : failures.back().index;
        if (failure.index <= before || failure.index >= static_cast<std::int64_t>(files)) return std::nullopt;
        failures.push_back(std::move(failure));
    }
    if (!reader.good()) return std::nullopt;
    return failures;
}

std::uint64_t checksum(const CacheHeader& header, std::span<const std::uint8_t> pixels,
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
    CacheHeader header;
    const std::span head(reinterpret_cast<std::uint8_t*>(&header), sizeof header);
    if (stream->read(head) < head.size() || header.magic != kCacheMagic || header.key != key) return std::nullopt;
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

std::uint64_t decodedKey(const std::filesystem::path& root, const FileList& files, const DecodedFormat& format) {
    ContentHash hash;
    hash.add(std::string_view(root.native()));
    hash.add(static_cast<std::uint64_t>(format.size) << 8 | static_cast<std::uint64_t>(format.channels));
    hash.add(std::uint64_t{format.decode == Decode::Exact});
    for (const LabelledFile file : files) {
        hash.add(std::string_view(file.name));
        hash.add(file.bytes);
        hash.add(static_cast<std::uint64_t>(file.modifiedNs));
        hash.add(static_cast<std::uint64_t>(file.changedNs));
    }
    return hash.value();
}

std::filesystem::path decodedFile(const std::filesystem::path& cacheFolder, const std::filesystem::path& root,
                                  const char* split, const DecodedFormat& format) {
    char name[80];
    std::snprintf(name, sizeof name, "%016llx-%s-%dx%d.decoded",
                  static_cast<unsigned long long>(streamOf(root.string())), split, format.channels, format.size);
    return cacheFolder / name;
}

std::optional<DecodedImages> loadDecoded(const std::filesystem::path& cache, std::uint64_t key, const FileList& files,
                                         const DecodedFormat& format) {
    try {
        return load(cache, key, files.size(), format.bytes());
    } catch (const ProblemError&) {
        return std::nullopt;  // not there, or not readable: decoded anew
    }
}

void storeDecoded(const std::filesystem::path& cache, std::uint64_t key, const DecodedImages& images) {
    const auto failures = written(images.failures);
    CacheHeader header;
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
