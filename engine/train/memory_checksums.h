#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/kernel.h"

namespace lockstep {

// Notices when host memory changes that nobody wrote to. Whatever rests between updates (parameters, optimizer state,
// averages, buffers) is written by a few kernels; before such a kernel runs, the sum of the bits that it finds must be
// that of the bits it left: offline memory checking (Blum et al., "Checking the correctness of memories", 1994), exact
// for a single flipped bit. Kernels that add bits up on the way (Kernel::runSummed) say both when they have run. One
// thread, the rank's.
class MemoryChecksums {
public:
    void check(const std::string& name, const std::byte* at, std::size_t bytes);  // `name`: who looked
    void check(const std::string& name, const std::byte* at, const BitSums& sums);
    void checkAll();
    void remember(const std::byte* at, std::size_t bytes);
    void remember(const std::byte* at, std::size_t bytes, const BitSums& sums) { m_sums[at] = {bytes, sums.left}; }
    void forget() { m_sums.clear(); }                       // somebody else has written
    const std::string& damage() const { return m_damage; }  // what was found first, in words; empty: nothing

private:
    struct Left {
        std::size_t bytes = 0;
        std::uint32_t sum = 0;
    };
    std::map<const std::byte*, Left> m_sums;
    std::string m_damage;
};

// A part of a step, small enough that what it writes stays in the cache while it is summed before and after.
struct ChecksummedKernel {
    std::unique_ptr<Kernel> kernel;
    std::vector<std::byte*> inputs, outputs;  // where the part's slices begin
    std::vector<std::size_t> outputBytes;
};

// One kernel that runs the parts in order, each checked before and remembered after by `sums`, which must outlive it.
// Allocates at its first run only.
std::unique_ptr<Kernel> withChecksums(MemoryChecksums& sums, std::string name, std::vector<ChecksummedKernel> parts);

}  // namespace lockstep
