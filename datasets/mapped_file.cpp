#include "datasets/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lockstep {

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& file) {
    const int handle = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (handle < 0) return nullptr;
    struct stat facts {};
    const bool isFile = fstat(handle, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0;
    const auto size = static_cast<std::size_t>(facts.st_size);
    void* const begin = isFile ? mmap(nullptr, size, PROT_READ, MAP_SHARED, handle, 0) : MAP_FAILED;
    close(handle);
    if (begin == MAP_FAILED) return nullptr;
    return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const std::byte*>(begin), size));
}

MappedFile::~MappedFile() { munmap(const_cast<std::byte*>(m_begin), m_size); }

}  // namespace lockstep
