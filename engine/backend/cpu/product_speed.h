#pragma once

namespace lockstep::cpu {

// How many times as fast as in f32 a product of usual size is with operands in bf16, on one core of this processor: the
// best of some tries each, a few tens of milliseconds in all.
double measureBf16Speed();

}  // namespace lockstep::cpu
