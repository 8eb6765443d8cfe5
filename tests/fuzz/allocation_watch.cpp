#include "tests/fuzz/allocation_watch.h"

#include <algorithm>

#include "tests/support/malloc_hook.h"

namespace lockstep::fuzz {

namespace {

thread_local bool watched = false;
thread_local std::size_t largestSeen = 0;

}  // namespace

AllocationWatch::AllocationWatch() {
    largestSeen = 0;
    watched = true;
}
AllocationWatch::~AllocationWatch() { watched = false; }
std::size_t AllocationWatch::largest() const { return largestSeen; }

}  // namespace lockstep::fuzz

void lockstep::onAllocation(std::size_t bytes) noexcept {
    if (fuzz::watched) fuzz::largestSeen = std::max(fuzz::largestSeen, bytes);
}
