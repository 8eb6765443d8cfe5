#pragma once
#include <memory>
#include <span>

#include "engine/collective/collective.h"

namespace lockstep {

// The work of one rank. What other ranks may read (arenas) must live until close(), not only during run().
class RankTask {
public:
    virtual ~RankTask() = default;
    virtual void run() = 0;                      // on the rank's thread; may throw
    virtual void interrupt() noexcept {}         // any thread: the group is aborted, leave every other wait
    virtual void close() noexcept = 0;           // on the rank's thread, after run() or its failure
};

// What the exception under way says, as the first cause of a failure. Only inside a catch block. A ProblemError is
// told as failureFrom() does. Rank -1: before there were ranks.
AbortCause currentCause(int rank);

// Runs task r on a thread of its own with endpoint r and waits for all. The first exception aborts the group and
// interrupts all tasks. Returns its cause; rank -1: there was none.
AbortCause runRanks(std::span<RankTask* const> tasks, std::span<const std::unique_ptr<Collective>> group);

}  // namespace lockstep
