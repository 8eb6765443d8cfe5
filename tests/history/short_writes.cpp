// The helper's own write(), pwrite() and pwrite64(), which SQLite calls, too. LOCKSTEP_TEST_DISK: to a disk that
//   short    takes half of what it is given, every time
//   BYTES    has so much room left: the write that fills it is short, all later ones fail with ENOSPC
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace {

bool takesHalves() {
    static const char* const disk = std::getenv("LOCKSTEP_TEST_DISK");
    return disk && disk == std::string_view("short");
}

std::atomic<long>& roomLeft() {
    static const char* const disk = std::getenv("LOCKSTEP_TEST_DISK");
    static std::atomic<long> left = disk && !takesHalves() ? std::atol(disk) : std::numeric_limits<long>::max();
    return left;
}

// How much of `count` bytes is taken; negative: none, the disk is full.
ssize_t taken(size_t count) {
    if (takesHalves()) return static_cast<ssize_t>((count + 1) / 2);
    long left = roomLeft().load();
    long some = 0;
    do some = std::min<long>(left, static_cast<long>(count));
    while (!roomLeft().compare_exchange_weak(left, left - some));
    if (some > 0 || count == 0) return some;
    errno = ENOSPC;
    return -1;
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* from, size_t count) {
    const ssize_t some = taken(count);
    return some < 0 ? some : syscall(SYS_write, fd, from, some);
}

ssize_t pwrite64(int fd, const void* from, size_t count, off64_t at) {
    const ssize_t some = taken(count);
    return some < 0 ? some : syscall(SYS_pwrite64, fd, from, some, at);
}

ssize_t pwrite(int fd, const void* from, size_t count, off_t at) { return pwrite64(fd, from, count, at); }

}  // extern "C"
