#pragma once
#include <memory>
#include <vector>

#include "engine/collective/collective.h"

namespace lockstep {

// A link between neighbours in a ring of ranks.
struct LinkModel {
    double bytesPerSecond = 0;  // 0: carries everything at once
    double latency = 0;         // seconds per message
};

// What an operation takes in a ring of `ranks` (Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms", 2009): an
// all-reduce 2 (n - 1) messages of bytes / n each, the halves of it (reduce-scatter, all-gather) n - 1 messages of
// bytesPerRank each, a broadcast or a message all its bytes once.
double allReduceSeconds(const LinkModel& link, int ranks, std::size_t bytes);

// The group with slow links in between, to show on one machine what a network would do: results are those of `group`,
// but wait() returns no earlier than the links could have carried the operation. It begins to travel once all ranks
// have started it and the one before has arrived; meanwhile ranks go on computing. Memory is only handed over later,
// not changed. Subgroups have no links of their own.
std::vector<std::unique_ptr<Collective>> withSimulatedLinks(std::vector<std::unique_ptr<Collective>> group,
                                                            const LinkModel& link);

}  // namespace lockstep
