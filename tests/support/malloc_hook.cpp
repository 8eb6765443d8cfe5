#include "tests/support/malloc_hook.h"

#include <cerrno>
#include <limits>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
    lockstep::onAllocation(bytes);
    return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
    std::size_t all = 0;
    if (__builtin_mul_overflow(count, bytes, &all)) all = std::numeric_limits<std::size_t>::max();
    lockstep::onAllocation(all);
    return __libc_calloc(count, bytes);
}
void* realloc(void* at, std::size_t bytes) {
    lockstep::onAllocation(bytes);
    return __libc_realloc(at, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
    lockstep::onAllocation(bytes);
    return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
    *out = memalign(alignment, bytes);
    return *out ? 0 : ENOMEM;
}
}
