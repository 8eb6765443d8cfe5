#pragma once
#include "engine/backend/cpu/simd/halves.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

// What becomes of the sums of one channel block, or of a part of it that fills a V.
template <class T, class V = F16>
class Ending {
public:
    Ending(const SumEndOf<T>& end, std::size_t block, std::size_t part = 0)
        : m_addends(end.addends),
          m_isClamped(end.relu),
          m_scale(end.scale ? get<V>(end.scale + block * 16 + part * kWidth) : Splat<V>::of(1.0f)),
          m_offset(end.bias ? get<V>(end.bias + block * 16 + part * kWidth) : V{}),
          m_ceiling(Splat<V>::of(end.ceiling)) {}

    [[gnu::always_inline]] V of(V sum, std::ptrdiff_t at) const {
        V value = sum * m_scale + m_offset;
        if (m_addends) value = value + loadAs<V>(m_addends + at);
        return m_isClamped ? select(m_ceiling < value, m_ceiling, positive(value)) : value;
    }

private:
    static constexpr std::size_t kWidth = sizeof(V) / sizeof(float);

    const T* m_addends;
    bool m_isClamped;
    V m_scale, m_offset, m_ceiling;
};

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
