#include <algorithm>

#include "tests/fuzz/allocation_watch.h"

// sanitizer/allocator_interface.h, which GCC does not ship.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*onMalloc)(const volatile void*, std::size_t),
                                                         void (*onFree)(const volatile void*));

namespace lockstep::fuzz {

namespace {

thread_local bool watched = false;
thread_local std::size_t largestSeen = 0;

void seen(const volatile void*, std::size_t bytes) {
    if (watched) largestSeen = std::max(largestSeen, bytes);
}
void freed(const volatile void*) {}

}  // namespace

AllocationWatch::AllocationWatch() {
    static const int installed = __sanitizer_install_malloc_and_free_hooks(seen, freed);
    static_cast<void>(installed);
    largestSeen = 0;
    watched = true;
}
AllocationWatch::~AllocationWatch() { watched = false; }
std::size_t AllocationWatch::largest() const { return largestSeen; }

}  // namespace lockstep::fuzz
