#pragma once
#include <filesystem>
#include <string>

#include "tests/fuzz/fuzz_target.h"

// Bytes as files, for parsers that take paths; in memory, so that a file costs microseconds.
namespace lockstep::fuzz {

// One file without a name in any folder.
class MemoryFile {
public:
    MemoryFile();
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile();
    // The file's new content; where it lies.
    std::filesystem::path holding(Input bytes);

private:
    int m_fd;
};

// A folder in /dev/shm, or where there is none, among the temporary files. Gone at the end.
class MemoryFolder {
public:
    MemoryFolder();
    MemoryFolder(const MemoryFolder&) = delete;
    MemoryFolder& operator=(const MemoryFolder&) = delete;
    ~MemoryFolder();
    const std::filesystem::path& path() const { return m_path; }
    void write(const std::string& name, Input bytes) const;
    void append(const std::string& name, Input bytes) const;

private:
    void put(const std::string& name, Input bytes, int flags) const;
    std::filesystem::path m_path;
};

}  // namespace lockstep::fuzz
