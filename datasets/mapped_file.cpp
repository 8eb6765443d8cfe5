#include "datasets/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datasets/file_time.h"
#include "datasets/lost_pages.h"

namespace lockstep {

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return nullptr;
    struct stat facts {};
    if (fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0)
        return of(descriptor, static_cast<std::size_t>(facts.st_size));
    close(descriptor);
    return nullptr;
}

std::shared_ptr<const MappedFile> MappedFile::of(int descriptor, std::size_t size) {
    struct stat facts {};
    void* const begin =
        fstat(descriptor, &facts) == 0 ? mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0) : MAP_FAILED;
    if (begin == MAP_FAILED) {
        close(descriptor);
        return nullptr;
    }
    surviveLostPages(begin, size);
    return std::shared_ptr<const MappedFile>(
        new MappedFile(static_cast<const std::byte*>(begin), size, descriptor, nanoseconds(facts.st_mtim)));
}

MappedFile::~MappedFile() {
    void* const begin = const_cast<std::byte*>(m_begin);
    forgetPages(begin);
    munmap(begin, m_size);
    close(m_descriptor);
}

bool MappedFile::isAt(const std::filesystem::path& file) const {
    struct stat mapped {
    }, there{};
    return fstat(m_descriptor, &mapped) == 0 && stat(file.c_str(), &there) == 0 && mapped.st_ino == there.st_ino &&
           mapped.st_dev == there.st_dev;
}

bool MappedFile::isAsMapped() const {
    struct stat facts {};
    return !haveLostPages(m_begin) && fstat(m_descriptor, &facts) == 0 &&
           static_cast<std::size_t>(facts.st_size) >= m_size && nanoseconds(facts.st_mtim) == m_modifiedNs;
}

}  // namespace lockstep
