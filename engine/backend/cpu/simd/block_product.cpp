#include "engine/backend/cpu/simd/block_tile.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

void blockProduct(const BlockProduct& run) { productBlocks<FloatLanes, kBlocks>(run, 0); }

void blockGradientProduct(const BlockGradientProduct& run) { gradientProductBlocks<FloatLanes, kBlocks>(run, 0); }

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
