#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lockstep {

// F16: IEEE 754 binary16. BF16: the upper half of an f32.
enum class DType : std::uint8_t { F32, F64, I32, I64, U8, F16, BF16 };

constexpr std::size_t sizeOf(DType type) {
    switch (type) {
        case DType::F64:
        case DType::I64: return 8;
        case DType::F32:
        case DType::I32: return 4;
        case DType::F16:
        case DType::BF16: return 2;
        case DType::U8: return 1;
    }
    return 0;
}

constexpr std::string_view text(DType type) {
    switch (type) {
        case DType::F32: return "f32";
        case DType::F64: return "f64";
        case DType::I32: return "i32";
        case DType::I64: return "i64";
        case DType::U8: return "u8";
        case DType::F16: return "f16";
        case DType::BF16: return "bf16";
    }
    return "?";
}

constexpr bool isHalf(DType type) { return type == DType::F16 || type == DType::BF16; }
constexpr bool isFloat(DType type) { return type == DType::F32 || type == DType::F64 || isHalf(type); }

// What is added to step by step (weights, statistics, averages) is kept in no less than f32: small steps would be lost.
constexpr DType atLeastF32(DType type) { return isHalf(type) ? DType::F32 : type; }

}  // namespace lockstep
