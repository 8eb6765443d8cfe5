#include "tests/fuzz/allocation_watch.h"

#include <algorithm>
#include <cerrno>
#include <limits>

namespace lockstep::fuzz {

namespace {

thread_local bool watched = false;
thread_local std::size_t largestSeen = 0;

void seen(std::size_t bytes) {
    if (watched) largestSeen = std::max(largestSeen, bytes);
}

}  // namespace

AllocationWatch::AllocationWatch() {
    largestSeen = 0;
    watched = true;
}
AllocationWatch::~AllocationWatch() { watched = false; }
std::size_t AllocationWatch::largest() const { return largestSeen; }

}  // namespace lockstep::fuzz

// operator new comes here too.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
    lockstep::fuzz::seen(bytes);
    return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
    std::size_t all = 0;
    if (__builtin_mul_overflow(count, bytes, &all)) all = std::numeric_limits<std::size_t>::max();
    lockstep::fuzz::seen(all);
    return __libc_calloc(count, bytes);
}
void* realloc(void* at, std::size_t bytes) {
    lockstep::fuzz::seen(bytes);
    return __libc_realloc(at, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
    lockstep::fuzz::seen(bytes);
    return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
    *out = memalign(alignment, bytes);
    return *out ? 0 : ENOMEM;
}
}
