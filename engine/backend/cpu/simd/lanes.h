#pragma once
#include <cstddef>
#include <cstdint>

// Sixteen floats at once: one register with AVX-512, two with AVX2, four without. The compiler's own vectors carry the
// arithmetic; what is wider than the machine is a pair of halves, for compilers split such vectors through memory.
// LOCKSTEP_SIMD is the namespace of the instruction set that this file is compiled for.
namespace lockstep::cpu::LOCKSTEP_SIMD {

template <class Half>
struct Pair {
    Half low, high;
};

using F4 = float __attribute__((vector_size(16)));
using I4 = std::int32_t __attribute__((vector_size(16)));
using U4 = std::uint32_t __attribute__((vector_size(16)));
#ifdef __AVX2__
using F8 = float __attribute__((vector_size(32)));
using I8 = std::int32_t __attribute__((vector_size(32)));
using U8 = std::uint32_t __attribute__((vector_size(32)));
#else
using F8 = Pair<F4>;
using I8 = Pair<I4>;
using U8 = Pair<U4>;
#endif
#ifdef __AVX512F__
using F16 = float __attribute__((vector_size(64)));
using I16 = std::int32_t __attribute__((vector_size(64)));
using U16 = std::uint32_t __attribute__((vector_size(64)));
#else
using F16 = Pair<F8>;
using I16 = Pair<I8>;
using U16 = Pair<U8>;
#endif

template <class T>
[[gnu::always_inline]] inline Pair<T> operator+(Pair<T> a, Pair<T> b) {
    return {a.low + b.low, a.high + b.high};
}
template <class T>
[[gnu::always_inline]] inline Pair<T> operator-(Pair<T> a, Pair<T> b) {
    return {a.low - b.low, a.high - b.high};
}
template <class T>
[[gnu::always_inline]] inline Pair<T> operator*(Pair<T> a, Pair<T> b) {
    return {a.low * b.low, a.high * b.high};
}
template <class T>
[[gnu::always_inline]] inline Pair<T> operator*(Pair<T> a, float b) {
    return {a.low * b, a.high * b};
}
template <class T>
[[gnu::always_inline]] inline Pair<T> operator/(Pair<T> a, float b) {
    return {a.low / b, a.high / b};
}
template <class T>
[[gnu::always_inline]] inline Pair<T>& operator+=(Pair<T>& a, Pair<T> b) {
    return a = a + b;
}
template <class T>
[[gnu::always_inline]] inline Pair<T>& operator-=(Pair<T>& a, Pair<T> b) {
    return a = a - b;
}

// Comparisons give masks: all bits of a lane or none.
template <class T>
[[gnu::always_inline]] inline auto operator>(Pair<T> a, Pair<T> b) {
    return Pair<decltype(a.low > b.low)>{a.low > b.low, a.high > b.high};
}
template <class T>
[[gnu::always_inline]] inline auto operator<(Pair<T> a, Pair<T> b) {
    return b > a;
}
template <class T>
[[gnu::always_inline]] inline auto operator==(Pair<T> a, Pair<T> b) {
    return Pair<decltype(a.low == b.low)>{a.low == b.low, a.high == b.high};
}
template <class T>
[[gnu::always_inline]] inline auto operator!=(Pair<T> a, Pair<T> b) {
    return Pair<decltype(a.low != b.low)>{a.low != b.low, a.high != b.high};
}
template <class T>
[[gnu::always_inline]] inline Pair<T> operator|(Pair<T> a, Pair<T> b) {
    return {a.low | b.low, a.high | b.high};
}
template <class T>
[[gnu::always_inline]] inline Pair<T> operator&(Pair<T> a, Pair<T> b) {
    return {a.low & b.low, a.high & b.high};
}

// Lane by lane: mask ? a : b. Of a single number, a bool is the mask.
template <class Mask, class T>
[[gnu::always_inline]] inline T select(Mask mask, T a, T b) {
    return mask ? a : b;
}
template <class Mask, class T>
[[gnu::always_inline]] inline Pair<T> select(Pair<Mask> mask, Pair<T> a, Pair<T> b) {
    return {select(mask.low, a.low, b.low), select(mask.high, a.high, b.high)};
}

// A number in every lane. Subtracting zero, unlike adding it, is nothing at all to a compiler.
template <class T>
struct Splat {
    template <class Number>
    [[gnu::always_inline]] static T of(Number x) {
        return x - T{};
    }
};
template <class T>
struct Splat<Pair<T>> {
    template <class Number>
    [[gnu::always_inline]] static Pair<T> of(Number x) {
        return {Splat<T>::of(x), Splat<T>::of(x)};
    }
};
[[gnu::always_inline]] inline F16 splat(float x) { return Splat<F16>::of(x); }

// Any alignment. Half by half: as one copy, compilers would send it through memory.
template <class T>
struct Access {
    template <class Number>
    [[gnu::always_inline]] static T get(const Number* at) {
        T value;
        __builtin_memcpy(&value, at, sizeof value);
        return value;
    }
    template <class Number>
    [[gnu::always_inline]] static void put(Number* at, T value) {
        __builtin_memcpy(at, &value, sizeof value);
    }
};
template <class T>
struct Access<Pair<T>> {
    template <class Number>
    [[gnu::always_inline]] static Pair<T> get(const Number* at) {
        return {Access<T>::get(at), Access<T>::get(at + sizeof(T) / sizeof(Number))};
    }
    template <class Number>
    [[gnu::always_inline]] static void put(Number* at, Pair<T> value) {
        Access<T>::put(at, value.low);
        Access<T>::put(at + sizeof(T) / sizeof(Number), value.high);
    }
};
template <class T, class Number>
[[gnu::always_inline]] inline T get(const Number* at) {
    return Access<T>::get(at);
}
template <class T, class Number>
[[gnu::always_inline]] inline void put(Number* at, T value) {
    Access<T>::put(at, value);
}
[[gnu::always_inline]] inline F16 load(const float* at) { return get<F16>(at); }
template <class T>
[[gnu::always_inline]] inline void store(float* at, T value) {
    put(at, value);
}

// Loops whose every index is a constant: an array that is read and written by them alone lies in registers.
template <std::size_t kIndex>
struct Index {
    static constexpr std::size_t value = kIndex;
};
template <std::size_t kBegin, std::size_t kEnd, class Body>
[[gnu::always_inline]] inline void unrolled(const Body& body) {
    if constexpr (kBegin < kEnd) {
        body(Index<kBegin>{});
        unrolled<kBegin + 1, kEnd>(body);
    }
}

// NaN stays NaN.
template <class V>
[[gnu::always_inline]] inline V positive(V x) {
    return select(x < V{}, V{}, x);
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

// What is multiplied and added up, in elements as large as a float: here floats.
template <class V>
struct FloatsOf {
    using Sums = V;
    static constexpr std::size_t kLanes = sizeof(V) / sizeof(float);  // sums side by side, and channels of a block
    static constexpr std::size_t kOfBlock = kLanes;                   // elements that hold a block of channels

    [[gnu::always_inline]] static V load(const float* at) { return get<V>(at); }
    [[gnu::always_inline]] static V splat(const float* at) { return Splat<V>::of(*at); }
    [[gnu::always_inline]] static V add(V sum, V a, V b) { return sum + a * b; }
};
using FloatLanes = FloatsOf<F16>;

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
