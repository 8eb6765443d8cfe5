#pragma once
#include <cstddef>
#include <cstdint>

// Sixteen floats at once in the compiler's own vectors: one register with AVX-512, two with AVX2, four without.
// LOCKSTEP_SIMD is the namespace of the instruction set that this file is compiled for.
namespace lockstep::cpu::LOCKSTEP_SIMD {

using F16 = float __attribute__((vector_size(64)));
using F16Anywhere = float __attribute__((vector_size(64), aligned(4), may_alias));
using I16 = std::int32_t __attribute__((vector_size(64)));

[[gnu::always_inline]] inline F16 load(const float* at) {
    return *reinterpret_cast<const F16Anywhere*>(at);
}
[[gnu::always_inline]] inline void store(float* at, F16 value) {
    *reinterpret_cast<F16Anywhere*>(at) = value;
}
[[gnu::always_inline]] inline F16 splat(float x) {
    return x - F16{};
}
// NaN stays NaN.
[[gnu::always_inline]] inline F16 positive(F16 x) {
    return x < F16{} ? F16{} : x;
}

// The last elements of a run, fewer than 16, in a place where 16 may be read and written.
struct Rest {
    alignas(64) float lane[16] = {};

    Rest() = default;
    Rest(const float* from, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) lane[i] = from[i];
    }
    void copyTo(float* to, std::size_t count) const {
        for (std::size_t i = 0; i < count; ++i) to[i] = lane[i];
    }
};

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
