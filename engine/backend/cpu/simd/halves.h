#pragma once
#include "engine/backend/cpu/simd/lanes.h"
#include "engine/backend/cpu/simd/table.h"

// Sixteen bf16 at once, which are floats in registers: widened as they are read, rounded to nearest, ties to even, as
// they are written. NaN stays NaN.
namespace lockstep::cpu::LOCKSTEP_SIMD {

template <class Float, class Bits, class Narrow>
struct NativeHalves {
    [[gnu::always_inline]] static Float load(const Bf16* at) {
        return (Float)(__builtin_convertvector(get<Narrow>(at), Bits) << 16);
    }
    [[gnu::always_inline]] static void store(Bf16* at, Float value) {
        const Bits bits = (Bits)value, rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
        put(at, __builtin_convertvector((value != value ? bits | 0x400000u : rounded) >> 16, Narrow));
    }
};

using H4 = std::uint16_t __attribute__((vector_size(8)));
using U4 = std::uint32_t __attribute__((vector_size(16)));
template <class Float>
struct Halves;
template <>
struct Halves<F4> : NativeHalves<F4, U4, H4> {};
#ifdef __AVX2__
using H8 = std::uint16_t __attribute__((vector_size(16)));
using U8 = std::uint32_t __attribute__((vector_size(32)));
template <>
struct Halves<F8> : NativeHalves<F8, U8, H8> {};
#endif
#ifdef __AVX512F__
using H16 = std::uint16_t __attribute__((vector_size(32)));
using U16 = std::uint32_t __attribute__((vector_size(64)));
template <>
struct Halves<F16> : NativeHalves<F16, U16, H16> {};
#endif
template <class Half>
struct Halves<Pair<Half>> {
    [[gnu::always_inline]] static Pair<Half> load(const Bf16* at) {
        return {Halves<Half>::load(at), Halves<Half>::load(at + sizeof(Half) / sizeof(float))};
    }
    [[gnu::always_inline]] static void store(Bf16* at, Pair<Half> value) {
        Halves<Half>::store(at, value.low);
        Halves<Half>::store(at + sizeof(Half) / sizeof(float), value.high);
    }
};

[[gnu::always_inline]] inline F16 load(const Bf16* at) { return Halves<F16>::load(at); }
[[gnu::always_inline]] inline void store(Bf16* at, F16 value) { Halves<F16>::store(at, value); }

template <class T>
constexpr bool kIsHalf = sizeof(T) == sizeof(Bf16);

// Where the sixteen elements from the i-th on lie.
template <class T>
[[gnu::always_inline]] inline std::size_t place(std::size_t i, std::size_t step) {
    if constexpr (kIsHalf<T>) return i / 16 * step;
    else return i;
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
