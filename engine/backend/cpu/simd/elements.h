#pragma once
#include "engine/backend/cpu/simd/functions.h"
#include "engine/backend/cpu/simd/halves.h"

// Rows of elements, of floats or of bf16, that end anywhere.
namespace lockstep::cpu::LOCKSTEP_SIMD {

[[gnu::always_inline]] inline F16 loadRest(const Bf16* at, std::size_t count, float fill = 0) {
    Bf16 lane[16] = {};
    for (std::size_t i = 0; i < count; ++i) lane[i] = at[i];
    Rest rest;
    store(rest.lane, load(lane));
    for (std::size_t i = count; i < 16; ++i) rest.lane[i] = fill;
    return load(rest.lane);
}
[[gnu::always_inline]] inline void storeRest(Bf16* at, F16 value, std::size_t count) {
    Bf16 lane[16];
    store(lane, value);
    for (std::size_t i = 0; i < count; ++i) at[i] = lane[i];
}

// y = function(x…), sixteen at a time.
template <class Function, class Out, class... In>
[[gnu::always_inline]] inline void forEach(std::size_t count, Function function, Out* y, const In*... x) {
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) store(y + i, function(load(x + i)...));
    if (i < count) storeRest(y + i, function(loadRest(x + i, count - i)...), count - i);
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
