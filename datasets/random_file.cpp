#include "datasets/random_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "datasets/file_time.h"
#include "datasets/unreadable.h"
#include "engine/core/result.h"

namespace lockstep {

// Non-blocking: opening a pipe that nobody writes to must not hang.
RandomFile::RandomFile(const std::filesystem::path& file)
    : m_path(file), m_handle(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (m_handle < 0) unreadable(file);
    struct stat facts {};
    if (::fstat(m_handle, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        ::close(m_handle);
        throw ProblemError({file.string(), "file.not-regular", {}});
    }
    m_size = static_cast<std::uint64_t>(facts.st_size);
    m_modifiedNs = nanoseconds(facts.st_mtim);
    m_changedNs = nanoseconds(facts.st_ctim);
}

RandomFile::RandomFile(RandomFile&& other) noexcept
    : m_path(std::move(other.m_path)),
      m_handle(std::exchange(other.m_handle, -1)),
      m_size(other.m_size),
      m_modifiedNs(other.m_modifiedNs),
      m_changedNs(other.m_changedNs) {}

RandomFile::~RandomFile() {
    if (m_handle >= 0) ::close(m_handle);
}

std::int64_t RandomFile::modifiedNow() const {
    struct stat facts {};
    return ::fstat(m_handle, &facts) == 0 ? nanoseconds(facts.st_mtim) : 0;
}

std::size_t RandomFile::read(std::uint64_t offset, std::span<std::uint8_t> into) const {
    std::size_t done = 0;
    while (done < into.size()) {
        const ssize_t got =
            ::pread(m_handle, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) unreadable(m_path);
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

}  // namespace lockstep
