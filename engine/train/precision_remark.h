#pragma once
#include <optional>

#include "engine/train/plan_run.h"

namespace lockstep {

// Of Backend::productSpeed(): below it a precision is slower than f32 by more than a measurement is off.
inline constexpr double kSlowProducts = 0.95;

// Where products of matrices in the run's precision are slower than in f32 on its devices, how much,
// "run.slow-precision", or "run.tiles-denied" where the system is the cause; the run uses it all the same. Measures the
// first time: see Backend::productSpeed().
std::optional<Problem> slowPrecision(const ResolvedSpec& resolved);
// Where at least half of what a program of less precision multiplies are floats all the same: "run.mostly-fp32".
std::optional<Problem> mostlyFp32(const Program& program);
// What to say of the precision of a program: that the system withholds something, or else that most of it is fp32, or
// else that products are slow, which is beside the point where the speed of the whole model was measured.
std::optional<Problem> precisionRemark(const ResolvedSpec& resolved, const Program& program);

}  // namespace lockstep
