#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lockstep {

enum class DType : std::uint8_t { F32, F64, I32, I64, U8 };

constexpr std::size_t sizeOf(DType type) {
    switch (type) {
        case DType::F64:
        case DType::I64: return 8;
        case DType::F32:
        case DType::I32: return 4;
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
    }
    return "?";
}

constexpr bool isFloat(DType type) { return type == DType::F32 || type == DType::F64; }

}  // namespace lockstep
