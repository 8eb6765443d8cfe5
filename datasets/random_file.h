#pragma once
#include <cstdint>
#include <filesystem>
#include <span>

namespace lockstep {

// A file that stays open and is read at any place. Const calls are safe from many threads.
class RandomFile {
public:
    // Throws ProblemError "file.unreadable" or "file.not-regular", as its read does.
    explicit RandomFile(const std::filesystem::path& file);
    RandomFile(RandomFile&& other) noexcept;
    RandomFile& operator=(RandomFile&&) = delete;
    ~RandomFile();

    const std::filesystem::path& path() const { return m_path; }
    std::uint64_t size() const { return m_size; }
    std::int64_t modifiedNs() const { return m_modifiedNs; }  // when it was opened
    std::int64_t modifiedNow() const;                         // 0 where nobody can tell
    std::int64_t changedNs() const { return m_changedNs; }    // of the inode

    // How many bytes there were: fewer only at the end.
    std::size_t read(std::uint64_t offset, std::span<std::uint8_t> into) const;

private:
    std::filesystem::path m_path;
    int m_handle;
    std::uint64_t m_size = 0;
    std::int64_t m_modifiedNs = 0, m_changedNs = 0;
};

}  // namespace lockstep
