#pragma once
#include <algorithm>
#include <cstddef>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

// In parts of fixed size, so that the sum does not depend on the threads.
class SquareSum {
public:
    SquareSum(const Machine& machine, std::size_t count)
        : m_machine(machine), m_count(count), m_parts((count + kPart - 1) / kPart) {}
    std::size_t workspaceBytes() const { return m_parts * sizeof(double); }

    double of(const float* x, std::byte* workspace) const {
        auto* sums = reinterpret_cast<double*>(workspace);
        inParallel(m_machine.threads, m_parts, m_count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const std::size_t at = i * kPart;
                sums[i] = m_machine.simd->squareSum(x + at, std::min(kPart, m_count - at));
            }
        });
        double sum = 0;
        for (std::size_t i = 0; i < m_parts; ++i) sum += sums[i];
        return sum;
    }

private:
    static constexpr std::size_t kPart = 4096;
    const Machine& m_machine;
    std::size_t m_count, m_parts;
};

}  // namespace lockstep::cpu
