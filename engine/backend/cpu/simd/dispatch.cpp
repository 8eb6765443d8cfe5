#include <algorithm>

#include "engine/backend/cpu/simd/table.h"

namespace lockstep::cpu {

namespace {

bool hasV3() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

bool hasV4() {
    return hasV3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

bool hasBf16() { return hasV4() && __builtin_cpu_supports("avx512bf16"); }

}  // namespace

const Bf16Table* bestBf16() { return hasBf16() ? &v4_bf16::kBf16Table : nullptr; }

bool arePairsFast() {
    const bool isGoldenCove = __builtin_cpu_is("intel") && __builtin_cpu_supports("avx512fp16");
    return hasBf16() && !isGoldenCove;
}

bool haveWideRegisters() { return hasV3(); }

std::array<const SimdTable*, 4> allSimd() {
    return {&baseline::kTable, hasV3() ? &v3::kTable : nullptr, hasV4() ? &v4::kTable : nullptr,
            hasBf16() ? &v4_bf16::kTable : nullptr};
}

const SimdTable& bestSimd() {
    const auto tables = allSimd();
    return **std::find_if(tables.rbegin(), tables.rend(), [](const SimdTable* table) { return table != nullptr; });
}

}  // namespace lockstep::cpu
