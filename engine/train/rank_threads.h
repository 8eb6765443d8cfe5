#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/collective/collective.h"

namespace lockstep {

// The work of one rank. What other ranks may read (arenas) must live until close(), not only during run().
class RankTask {
public:
    virtual ~RankTask() = default;
    virtual void run() = 0;               // on the rank's thread; may throw
    virtual void interrupt() noexcept {}  // any thread: the group is aborted, leave every other wait
    // Any thread: which piece of its data the rank waits for now (their numbers differ), if it does.
    virtual std::optional<std::uint64_t> awaitedData() const noexcept { return std::nullopt; }
    virtual void close() noexcept = 0;  // on the rank's thread, after run() or its failure
};

// How the ranks are watched over. Time in which the whole process is stopped (a suspended laptop) does not count.
struct Watch {
    double timeout = 300;               // seconds that ranks wait for one that does not come, or for data
    std::function<bool()> isHeld = {};  // a person has paused the run: ranks wait for that
    // Ranks that have not left half a second after a timeout, or `timeout` + half a second after any other cause: their
    // threads cannot be ended, so the process must be, and this function should not return. If it is empty or returns,
    // they are waited for.
    std::function<void(const AbortCause& cause, const std::vector<int>& stuck)> onStuck = {};
};

// What the exception under way says, as the first cause of a failure. Only inside a catch block. A ProblemError is
// told as failureFrom() does. Rank -1: before there were ranks.
AbortCause currentCause(int rank);

// The way back, for who has no events to tell a failure by: throws the ProblemError or EngineError that the cause
// tells.
[[noreturn]] void rethrow(const AbortCause& cause);

// Runs task r on a thread of its own with endpoint r and waits for all. The first exception aborts the group and
// interrupts all tasks; so does a rank for which others have waited too long, as EngineError::Kind::Collective, or
// whose data did not come, as Io. Returns its cause; rank -1: there was none.
AbortCause runRanks(std::span<RankTask* const> tasks, std::span<const std::unique_ptr<Collective>> group,
                    const Watch& watch = {});

}  // namespace lockstep
