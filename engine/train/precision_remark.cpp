#include "engine/train/precision_remark.h"

#include "engine/core/number_text.h"
#include "engine/plan/float_products.h"

namespace lockstep {

std::optional<Problem> slowPrecision(const ResolvedSpec& resolved) {
    const ProductUnits units = resolved.backend->productUnits(resolved.precision());
    if (units == ProductUnits::TilesDenied) return Problem{"precision", "run.tiles-denied", {resolved.spec.precision}};
    if (units == ProductUnits::Tiles) return std::nullopt;  // several times as fast: nothing to measure
    const double speed = resolved.backend->productSpeed(resolved.precision());
    if (resolved.precision() == Precision::Fp32 || speed == 0 || speed >= kSlowProducts) return std::nullopt;
    return Problem{"precision", "run.slow-precision", {resolved.spec.precision, formatted("%.2f", speed)}};
}

std::optional<Problem> mostlyFp32(const Program& program) {
    constexpr double kMostly = 0.5;
    const FloatProducts floats = floatProducts(program);
    if (floats.ofFloats == 0 || floats.share < kMostly) return std::nullopt;
    return Problem{
        "precision", "run.mostly-fp32", {std::string(text(program.precision)), floats.countText(), floats.shareText()}};
}

std::optional<Problem> precisionRemark(const ResolvedSpec& resolved, const Program& program) {
    if (resolved.backend->productUnits(resolved.precision()) != ProductUnits::TilesDenied) {
        if (auto floats = mostlyFp32(program)) return floats;
        if (resolved.isPrecisionMeasured) return std::nullopt;
    }
    return slowPrecision(resolved);
}

}  // namespace lockstep
