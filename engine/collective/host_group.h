#pragma once
#include "engine/collective/collective.h"

namespace lockstep {

// Ranks that are threads of this process and whose memory is host memory. There is no thread behind it: an operation is
// cut into pieces (an all-reduce into at most one slice per rank), and whichever rank has time, inside progress() or
// wait(), takes the next piece: it sums the slice over all ranks in rank order and writes it to all. A rank that waits
// so does the work of one that still computes.
//
// A rank may be 64 operations ahead of its own wait(); starting one more first completes the oldest. After the group is
// made, nothing is allocated but by subgroup(), the first send or receive of a pair, and errors.
//
// Operations that differ between ranks (kind, size, type, root) are an EngineError(Collective) on every rank, naming
// two. Once abort() has returned, or a call has thrown Aborted, no rank touches memory given to the group any more, so
// a failing rank must abort before it frees its memory. Subgroups are aborted with their group and the other way round.
std::vector<std::unique_ptr<Collective>> makeHostGroup(int ranks);

}  // namespace lockstep
