#pragma once
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "engine/backend/cpu/simd/lanes.h"
#include "engine/backend/cpu/simd/table.h"

// Sixteen bf16 at once, which are floats in registers: widened as they are read, rounded to nearest, ties to even, as
// they are written. NaN stays NaN. Processors that round in one instruction make zero of what is below 2^-126.
namespace lockstep::cpu::LOCKSTEP_SIMD {

// In the upper halves of what it returns.
template <class Bits, class Float>
[[gnu::always_inline]] inline Bits roundedToHalf(Float value) {
    const Bits bits = (Bits)value, rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    return value != value ? bits | 0x400000u : rounded;
}

template <class Float, class Bits, class Narrow>
struct NativeHalves {
    [[gnu::always_inline]] static Float load(const Bf16* at) {
        return (Float)(__builtin_convertvector(get<Narrow>(at), Bits) << 16);
    }
    [[gnu::always_inline]] static void store(Bf16* at, Float value) {
        put(at, __builtin_convertvector(roundedToHalf<Bits>(value) >> 16, Narrow));
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
using U16 = std::uint32_t __attribute__((vector_size(64)));
// In one step each: compilers convert whole registers half by half.
template <>
struct Halves<F16> {
    static constexpr __mmask16 kAll = 0xffff;

    [[gnu::always_inline]] static F16 load(const Bf16* at) {
        return (F16)((U16)_mm512_maskz_cvtepu16_epi32(kAll, get<__m256i>(at)) << 16);
    }
    [[gnu::always_inline]] static void store(Bf16* at, F16 value) {
#ifdef __AVX512BF16__
        put(at, (__m256i)_mm512_cvtneps_pbh((__m512)value));
#else
        put(at, _mm512_maskz_cvtepi32_epi16(kAll, (__m512i)(roundedToHalf<U16>(value) >> 16)));
#endif
    }
};
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

// As many floats as a V holds; of bf16 sixteen.
template <class V, class T>
[[gnu::always_inline]] inline V loadAs(const T* at) {
    if constexpr (kIsHalf<T>) return load(at);
    else return get<V>(at);
}

// Where the sixteen elements from the i-th on lie.
template <class T>
[[gnu::always_inline]] inline std::size_t place(std::size_t i, std::size_t step) {
    if constexpr (kIsHalf<T>) return i / 16 * step;
    else return i;
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
