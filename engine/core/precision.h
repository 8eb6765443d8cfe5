#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep {

// What a trial computes in. Fp32: floats. Tf32: floats, and products of matrices and convolutions read their operands
// rounded to 10 bits of fraction. Bf16, Fp16: that type where a backend computes in it, with the parameters kept in
// floats besides (masters); where it does not, products of matrices read operands rounded to it, and so do convolutions
// that the processor's instructions for it make faster. In Fp16 a run scales its loss: see
// StepScalars::lossScale, which the gradient of the loss is multiplied by.
enum class Precision : std::uint8_t { Fp32, Tf32, Bf16, Fp16 };

constexpr std::array<std::string_view, 4> kPrecisions{"fp32", "tf32", "bf16", "fp16"};  // as a spec says it
constexpr std::string_view text(Precision precision) { return kPrecisions[static_cast<std::size_t>(precision)]; }
constexpr std::optional<Precision> precisionOf(std::string_view name) {
    for (std::size_t i = 0; i < kPrecisions.size(); ++i)
        if (kPrecisions[i] == name) return static_cast<Precision>(i);
    return std::nullopt;
}

}  // namespace lockstep
