#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "datasets/mapped_file.h"

namespace lockstep {

// A file of byte runs, numbered, that grows run by run and is mapped once it is whole. What has been committed survives
// a kill at any moment. Without a name it is memory. One thread while it grows; const calls are safe from many.
class StoreFile {
public:
    struct Run {
        std::uint64_t offset = 0, bytes = 0, hash = 0;  // hash: a ContentHash of the bytes
        std::int32_t height = 0, width = 0;             // what the bytes are; 0: another thing
        std::int32_t fullHeight = 0, fullWidth = 0;     // what that was scaled from
        std::uint64_t check = 0;                        // a ContentHash of the others
    };
    using Waiting = std::function<void(std::int64_t committed)>;

    // Opens it for `count` runs; one that is there is continued where it is of the same key and count, and undamaged as
    // far as its numbers say. While another process makes it, waits: `waiting` hears ten times a second how far that
    // has come, and what it throws ends the waiting. Throws ProblemError "picture-store.unwritable".
    StoreFile(std::filesystem::path file, std::uint64_t key, std::int64_t count, const Waiting& waiting);
    StoreFile(StoreFile&& other) noexcept;
    StoreFile& operator=(StoreFile&&) = delete;
    ~StoreFile();

    std::int64_t count() const { return m_count; }
    std::int64_t committed() const { return m_committed; }
    // Throws ProblemError "picture-store.disk-full"; the file is gone then.
    void append(const Run& run, std::span<const std::uint8_t> bytes);
    void commit();  // all that was appended, onto the disk
    void map();     // when all are committed; nothing is appended after it

    Run run(std::int64_t index) const;                          // mapped
    std::span<const std::uint8_t> bytes(const Run& run) const;  // empty where the file has no such place
    const std::filesystem::path& name() const { return m_file; }
    bool isMemory() const { return m_file.empty(); }
    // Whether what was read of it until now was what it had when it was mapped.
    bool isAsMapped() const { return isMemory() || m_mapped->isAsMapped(); }
    static bool isWhole(const Run& run);  // it is as it was written
    void discard() const;                 // its name, so that the next opening makes another; mapped

private:
    struct Header;
    void open();
    void lock(const Waiting& waiting);
    bool isReplaced() const;
    Header header() const;
    bool isOurs(const Header& header) const;
    bool areRunsWhole(const Header& header) const;
    void start(const Waiting& waiting);
    void sync();
    [[noreturn]] void fail();
    void write(const void* from, std::size_t bytes, std::uint64_t at);

    std::filesystem::path m_file;
    std::uint64_t m_key;
    std::int64_t m_count, m_committed = 0, m_appended = 0;
    std::uint64_t m_end = 0;  // of the bytes
    int m_descriptor = -1;
    std::shared_ptr<const MappedFile> m_mapped;
};

}  // namespace lockstep
