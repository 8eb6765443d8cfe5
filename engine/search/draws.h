#pragma once
#include "engine/core/random.h"

namespace lockstep {

// Random numbers of one suggestion, one after another.
class Draws {
public:
    explicit Draws(const CounterRng& rng) : m_rng(rng) {}

    double uniform() { return m_rng.uniform(m_next++); }  // [0, 1)
    double normal() { return m_rng.normal(kNormals + m_normals++); }

private:
    static constexpr std::uint32_t kNormals = 1u << 30;  // each takes two places, which uniform() does not come to

    CounterRng m_rng;
    std::uint32_t m_next = 0, m_normals = 0;
};

}  // namespace lockstep
