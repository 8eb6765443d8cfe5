#include "tests/fuzz/fuzz_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace lockstep::fuzz {

namespace fs = std::filesystem;

namespace {

void writeAll(int fd, Input bytes) {
    require(fd >= 0 && ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "a file in memory can be written");
}

}  // namespace

MemoryFile::MemoryFile() : m_fd(memfd_create("lockstep-fuzz", MFD_CLOEXEC)) {}
MemoryFile::~MemoryFile() { ::close(m_fd); }

fs::path MemoryFile::holding(Input bytes) {
    require(ftruncate(m_fd, 0) == 0 && lseek(m_fd, 0, SEEK_SET) == 0, "a file in memory can be emptied");
    writeAll(m_fd, bytes);
    return "/proc/self/fd/" + std::to_string(m_fd);
}

MemoryFolder::MemoryFolder() {
    const fs::path memory = "/dev/shm";
    std::string name = (fs::is_directory(memory) ? memory : fs::temp_directory_path()) / "lockstep-fuzz-XXXXXX";
    require(mkdtemp(name.data()) != nullptr, "a folder can be made");
    m_path = name;
}

MemoryFolder::~MemoryFolder() {
    std::error_code ignored;
    fs::remove_all(m_path, ignored);
}

void MemoryFolder::write(const std::string& name, Input bytes) const { put(name, bytes, O_TRUNC); }
void MemoryFolder::append(const std::string& name, Input bytes) const { put(name, bytes, O_APPEND); }

void MemoryFolder::put(const std::string& name, Input bytes, int flags) const {
    const int fd = ::open((m_path / name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
    writeAll(fd, bytes);
    ::close(fd);
}

}  // namespace lockstep::fuzz
