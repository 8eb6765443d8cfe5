#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace lockstep {

// The bytes of a file from front to back, unpacked if it is compressed. Owned by one parser, used by one thread.
class ByteStream {
public:
    virtual ~ByteStream() = default;
    // Fills `into` from the front; fewer bytes only at the end. Throws ProblemError: unreadable, or corrupt
    // compression.
    virtual std::size_t read(std::span<std::uint8_t> into) = 0;
    // No more bytes than this can come, known before reading: nothing larger needs to be believed or allocated.
    virtual std::uint64_t bound() const = 0;
    // bound() is the very size.
    virtual bool exact() const = 0;
};

// Throws ProblemError "file.unreadable" or "file.not-regular" (a folder, a pipe, a device).
std::unique_ptr<ByteStream> openPlain(const std::filesystem::path& file);
// By the first two bytes: plain, or gzip.
std::unique_ptr<ByteStream> openUnpacked(const std::filesystem::path& file);
// The same of a file whose bytes are in memory, as those of an archive; `bytes` outlive the stream.
std::unique_ptr<ByteStream> unpacked(const std::filesystem::path& file, std::string_view bytes);

// A whole file as it lies on disk. Throws ProblemError; "file.too-large" above `limit` bytes.
std::vector<std::uint8_t> readWhole(const std::filesystem::path& file, std::uint64_t limit);
// The same into memory that there is, of which the first bytes are the file's: how many.
std::size_t readWhole(const std::filesystem::path& file, std::uint64_t limit, std::vector<std::uint8_t>& into);

}  // namespace lockstep
