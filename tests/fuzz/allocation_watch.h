#pragma once
#include <cstddef>

// What this thread asks of the allocator at once. Two bodies: allocation_watch.cpp stands in for malloc,
// allocation_watch_sanitized.cpp asks a sanitizer's allocator.
namespace lockstep::fuzz {

class AllocationWatch {
public:
    AllocationWatch();  // one at a time
    AllocationWatch(const AllocationWatch&) = delete;
    AllocationWatch& operator=(const AllocationWatch&) = delete;
    ~AllocationWatch();
    std::size_t largest() const;  // in bytes, since it began
};

}  // namespace lockstep::fuzz
