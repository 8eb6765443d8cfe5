#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace lockstep {

// A file's bytes as memory that is read when it is looked at. It is not to be cut short meanwhile; that it is replaced
// by another of its name does not matter.
class MappedFile {
public:
    // Null: it is absent, empty, no regular file, or cannot be read.
    static std::shared_ptr<const MappedFile> open(const std::filesystem::path& file);
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    std::span<const std::byte> bytes() const { return {m_begin, m_size}; }

private:
    MappedFile(const std::byte* begin, std::size_t size) : m_begin(begin), m_size(size) {}

    const std::byte* m_begin;
    std::size_t m_size;
};

}  // namespace lockstep
