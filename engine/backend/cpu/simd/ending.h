#pragma once
#include "engine/backend/cpu/simd/halves.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

// What becomes of the sums of one channel block.
template <class T>
class Ending {
public:
    Ending(const SumEndOf<T>& end, std::size_t block)
        : m_addends(end.addends),
          m_isClamped(end.relu),
          m_scale(end.scale ? load(end.scale + block * 16) : splat(1)),
          m_offset(end.bias ? load(end.bias + block * 16) : F16{}),
          m_ceiling(splat(end.ceiling)) {}

    [[gnu::always_inline]] F16 of(F16 sum, std::ptrdiff_t at) const {
        F16 value = sum * m_scale + m_offset;
        if (m_addends) value = value + load(m_addends + at);
        return m_isClamped ? select(m_ceiling < value, m_ceiling, positive(value)) : value;
    }

private:
    const T* m_addends;
    bool m_isClamped;
    F16 m_scale, m_offset, m_ceiling;
};

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
