#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace lockstep {

// A value needed from step `first` (which writes it) to step `last` (the last to read it), both included.
struct Lifetime {
    int first = 0, last = 0;
    std::size_t bytes = 0;
};
struct MemoryPlan {
    std::vector<std::size_t> offsets;
    std::size_t peak = 0;
};

// Offsets such that values alive at the same time never overlap; greedy by size, best fit (Pisarchyk & Lee,
// "Efficient memory management for deep neural net inference", arXiv 2001.03288, section 5). Pure arithmetic.
// Offsets and the peak are multiples of the alignment; a value of no bytes gets offset 0.
MemoryPlan planMemory(std::span<const Lifetime> lifetimes, std::size_t alignment);

}  // namespace lockstep
