#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace lockstep {

// A file's bytes as memory that is read when it is looked at. That the file is replaced by another of its name does not
// matter. Where it is cut short or its disk fails, what is no longer there reads as zeros, and isAsMapped() tells; so
// it does where somebody writes into it.
class MappedFile {
public:
    // Null: it is absent, empty, no regular file, or cannot be read.
    static std::shared_ptr<const MappedFile> open(const std::filesystem::path& file);
    // Of the first `size` bytes of an open file, which closes with it; null: it cannot be mapped, and is closed.
    static std::shared_ptr<const MappedFile> of(int descriptor, std::size_t size);
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    std::span<const std::byte> bytes() const { return {m_begin, m_size}; }
    // Whether all that was read until now is what was mapped. Asks the system: a fraction of a microsecond.
    bool isAsMapped() const;
    bool isAt(const std::filesystem::path& file) const;  // it still has that name, and not another file

private:
    MappedFile(const std::byte* begin, std::size_t size, int descriptor, std::int64_t modifiedNs)
        : m_begin(begin), m_size(size), m_descriptor(descriptor), m_modifiedNs(modifiedNs) {}

    const std::byte* m_begin;
    std::size_t m_size;
    int m_descriptor;
    std::int64_t m_modifiedNs;
};

}  // namespace lockstep
