#pragma once
#include <cstddef>

// A program with malloc_hook.cpp among its sources is told of every allocation, on the thread that makes it; operator
// new comes there too. It defines this function, which must not allocate.
namespace lockstep {

void onAllocation(std::size_t bytes) noexcept;

}  // namespace lockstep
