#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>
#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include "engine/backend/cuda/card.h"
#include "engine/core/dtype.h"
#include "engine/core/error.h"

namespace lockstep::cuda {

// The element types of kernels. Halves are storage alone: kernels widen what they read, compute in float, and round to
// nearest, ties to even, what they write.
struct BFloat16 {
    std::uint16_t bits = 0;

    BFloat16() = default;
    LOCKSTEP_CARD BFloat16(float x) : bits(rounded(x)) {}
    LOCKSTEP_CARD operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

private:
    LOCKSTEP_CARD static std::uint16_t rounded(float x) {
#if defined(__CUDA_ARCH__)
        return __bfloat16_as_ushort(__float2bfloat16_rn(x));
#else
        if (x != x) return 0x7fc0;
        const auto whole = std::bit_cast<std::uint32_t>(x);
        return static_cast<std::uint16_t>((whole + 0x7fffu + (whole >> 16 & 1u)) >> 16);
#endif
    }
};

struct Half {
    std::uint16_t bits = 0;

    Half() = default;
    LOCKSTEP_CARD Half(float x) : bits(rounded(x)) {}
    LOCKSTEP_CARD operator float() const {
#if defined(__CUDA_ARCH__)
        return __half2float(__ushort_as_half(bits));
#else
        const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 0x1fu, fraction = bits & 0x3ffu;
        if (exponent == 0) {  // zero, or fraction x 2^-24
            const float small = static_cast<float>(fraction) * 0x1p-24f;
            return std::bit_cast<float>(std::bit_cast<std::uint32_t>(small) | sign);
        }
        const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
        return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
#endif
    }

private:
    LOCKSTEP_CARD static std::uint16_t rounded(float x) {
#if defined(__CUDA_ARCH__)
        return __half_as_ushort(__float2half_rn(x));
#else
        const auto whole = std::bit_cast<std::uint32_t>(x);
        const std::uint32_t sign = whole >> 16 & 0x8000u, size = whole & 0x7fffffffu;
        if (size > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
        if (size >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to 65536: infinity
        if (size < 0x38800000u) {  // below 2^-14: adding 1/2 rounds at its last bit, 2^-24
            const float shifted = std::bit_cast<float>(size) + 0.5f;
            return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
        }
        const std::uint32_t odd = size >> 13 & 1u;
        return static_cast<std::uint16_t>(sign | ((size - 0x38000000u + 0xfffu + odd) >> 13));
#endif
    }
};

// What kernels compute in: float, but for doubles and integers.
template <class T>
struct ComputedIn {
    using Type = std::conditional_t<std::is_integral_v<T>, T, float>;
};
template <>
struct ComputedIn<double> {
    using Type = double;
};
template <class T>
using Computed = typename ComputedIn<T>::Type;

// Calls use with a value of the C++ type behind an element type that kernels compute with: f32, f16 or bf16.
template <class Use>
auto withFloat(DType dtype, const std::string& where, Use use) {
    switch (dtype) {
        case DType::F32: return use(float{});
        case DType::F16: return use(Half{});
        case DType::BF16: return use(BFloat16{});
        default: break;
    }
    throw EngineError(EngineError::Kind::Device, where,
                      "CUDA computes in f32, f16 and bf16, not in " + std::string(text(dtype)));
}

}  // namespace lockstep::cuda
