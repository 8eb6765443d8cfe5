#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/class_folders.h"
#include "datasets/picture_source.h"
#include "datasets/reading.h"

namespace lockstep {

// What all images of a folder become: size x size, grey or colour.
struct DecodedFormat {
    int size = 0, channels = 0;
    Decode decode = Decode::Fast;
    std::size_t bytes() const {
        return static_cast<std::size_t>(channels) * static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
    }
};

// The good images of a list in its order, planar, and why the others failed.
struct DecodedImages {
    struct Failure {
        std::int64_t index = 0;
        Problem reason;
    };
    std::vector<std::uint8_t> pixels;
    std::vector<Failure> failures;  // by rising index
    std::uint64_t content = 0;      // a hash of the good files' bytes, which decoders of other machines do not change
};

// Reads and decodes all pictures with a few threads. Not being able to decode one is a failure of that one alone.
// `reading` is told of those beyond the `before` that were read earlier; cancelled, it throws.
DecodedImages decodeAll(const EncodedPictures& pictures, const DecodedFormat& format, Reading& reading,
                        std::int64_t before = 0);

// A hash of all that the decoded bytes depend on: names, sizes and times of the files (both), format, version of this
// code.
std::uint64_t decodedKey(const std::filesystem::path& root, const FileList& files, const DecodedFormat& format);

// Where those of a split are kept.
std::filesystem::path decodedFile(const std::filesystem::path& cacheFolder, const std::filesystem::path& root,
                                  const char* split, const DecodedFormat& format);
// The decoded images kept in `cache`, or nothing: absent, of other files, cut short or damaged (its checksum is
// compared).
std::optional<DecodedImages> loadDecoded(const std::filesystem::path& cache, std::uint64_t key, const FileList& files,
                                         const DecodedFormat& format);
// Durable, by temporary file and rename. Throws EngineError(Io).
void storeDecoded(const std::filesystem::path& cache, std::uint64_t key, const DecodedImages& images);

}  // namespace lockstep
