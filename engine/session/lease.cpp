#include "engine/session/lease.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "engine/core/error.h"

namespace lockstep {

namespace {

flock wholeFile() {
    flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return lock;
}

[[noreturn]] void fail(const std::filesystem::path& file, int error) {
    throw EngineError(EngineError::Kind::Io, "lease " + file.string(),
                      std::error_code(error, std::generic_category()).message());
}

}  // namespace

std::optional<Lease> Lease::tryAcquire(const std::filesystem::path& file) {
    const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) fail(file, errno);
    Lease lease(fd);
    flock lock = wholeFile();
    if (fcntl(fd, F_OFD_SETLK, &lock) == 0) return lease;
    if (errno != EAGAIN && errno != EACCES) fail(file, errno);
    return std::nullopt;
}

bool Lease::isHeld(const std::filesystem::path& file) {
    const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const Lease closes(fd);
    flock lock = wholeFile();
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

Lease::Lease(Lease&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}

Lease& Lease::operator=(Lease&& other) noexcept {
    std::swap(m_fd, other.m_fd);
    return *this;
}

// The file stays: removing it would let two processes hold locks on two files of one name.
Lease::~Lease() {
    if (m_fd >= 0) close(m_fd);
}

}  // namespace lockstep
