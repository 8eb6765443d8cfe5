#pragma once
#include "engine/backend/backend.h"
#include "engine/backend/cpu/onednn.h"

namespace lockstep::cpu {

// How many times as fast as in f32 a product of usual size is with operands in bf16, on one core of this processor: the
// best of some tries each, a few tens of milliseconds in all.
double measureBf16Speed();

// By what is used, and what the processor has.
enum class PairsOf { None, Slow, Fast };
PairsOf pairsOfProcessor();
ProductUnits productUnitsOf(onednn::Bf16Units used, bool processorHasTiles, PairsOf processor);

}  // namespace lockstep::cpu
