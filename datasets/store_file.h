#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace lockstep {

// A file of byte runs, numbered, that grows run by run and is mapped once it is whole. What has been committed survives
// a kill at any moment. Without a name it is memory. One thread while it grows; const calls are safe from many.
class StoreFile {
public:
    struct Run {
        std::uint64_t offset = 0, bytes = 0, hash = 0;  // hash: a ContentHash of the bytes
        std::int32_t height = 0, width = 0;             // what the bytes are; 0: another thing
        std::int32_t fullHeight = 0, fullWidth = 0;     // what that was scaled from
    };

    // Opens it for `count` runs; one that is there is continued where it is of the same key and count. Throws
    // ProblemError "picture-store.busy" (another process makes it), "picture-store.unwritable".
    StoreFile(std::filesystem::path file, std::uint64_t key, std::int64_t count);
    StoreFile(StoreFile&& other) noexcept;
    StoreFile& operator=(StoreFile&&) = delete;
    ~StoreFile();

    std::int64_t count() const { return m_count; }
    std::int64_t committed() const { return m_committed; }
    // Throws ProblemError "picture-store.disk-full"; the file is gone then.
    void append(const Run& run, std::span<const std::uint8_t> bytes);
    void commit();  // all that was appended, onto the disk
    void map();     // when all are committed; nothing is appended after it

    Run run(std::int64_t index) const;  // mapped
    std::span<const std::uint8_t> bytes(const Run& run) const;
    const std::filesystem::path& name() const { return m_file; }

private:
    struct Header;
    void lock() const;
    void start();
    void sync();
    [[noreturn]] void fail();
    void write(const void* from, std::size_t bytes, std::uint64_t at);

    std::filesystem::path m_file;
    std::uint64_t m_key;
    std::int64_t m_count, m_committed = 0, m_appended = 0;
    std::uint64_t m_end = 0;  // of the bytes
    int m_descriptor = -1;
    std::byte* m_mapped = nullptr;
    std::size_t m_mappedBytes = 0;
};

}  // namespace lockstep
