#pragma once
#include "engine/collective/collective.h"

namespace lockstep {

// Ranks that are threads of this process and whose memory is host memory. There is no thread behind it: an all-reduce is
// cut into one slice per rank, and each rank sums its slice over all ranks and writes it to all, inside progress() or wait().
std::vector<std::unique_ptr<Collective>> makeHostGroup(int ranks);

}  // namespace lockstep
