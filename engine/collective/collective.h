#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/dtype.h"

namespace lockstep {

// Names one collective operation of an endpoint, in the order in which the rank started them.
struct Ticket {
    std::uint64_t sequence = 0;
};

// Why a group was aborted: the first failure, with the rank it happened on.
struct AbortCause {
    int rank = -1;
    std::string kind;  // text(EngineError::Kind), or a Problem's code
    std::string where, what;
    std::vector<std::string> args = {};  // the Problem's
    // The operation that `rank` would have come to next: its number among the group's, and, if others were in it by
    // then, what it is and who. The group fills them in.
    std::string collective = {};
    std::int64_t sequence = -1;
    std::vector<int> waiting = {};
};

// Alone: started and waited for within a rank's recording (Device::record()), operations are done again whenever that
// is replayed. Together: ranks share a device, so that theirs is one recording, which the group keeps.
enum class Recorded { No, Alone, Together };

// One rank's endpoint of a group, used by that rank's thread alone (abort() apart). Every rank of the group must start
// the same operations in the same order with the same sizes. start… returns at once; memory given to an operation is
// the group's until wait(). Host sums form one fixed tree over the ranks for every element, so all ranks get the same
// bits: like a carry in a binary counter, two subtrees of equal size become one; with 4 ranks (0+1)+(2+3). Nothing here
// assumes that the other ranks are threads of this process. Every call throws EngineError(Aborted) once the group is
// aborted.
class Collective {
public:
    virtual ~Collective() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;

    virtual Ticket allReduce(void* inout, std::size_t count, DType dtype) = 0;  // sum
    virtual Ticket reduceScatter(const void* in, void* out, std::size_t countPerRank, DType dtype) = 0;
    virtual Ticket allGather(const void* in, void* out, std::size_t bytesPerRank) = 0;
    virtual Ticket broadcast(void* inout, std::size_t bytes, int root) = 0;
    virtual Ticket send(const void* in, std::size_t bytes, int to) = 0;  // matched in order per pair
    virtual Ticket receive(void* out, std::size_t bytes, int from) = 0;

    // Does a piece of the pending work if there is any that can be done now; never blocks. A rank calls it between
    // kernels.
    virtual void progress() = 0;
    virtual void wait(Ticket ticket) = 0;  // blocks until the operation and all earlier ones are complete here
    virtual void barrier() = 0;

    // How operations on memory of a device can be recorded with the kernels around them, to be done again: see below.
    virtual Recorded recorded() const { return Recorded::No; }
    // Alone: a rank says, each time but the first, that it is about to replay its recording, with as many operations.
    virtual void replays(std::uint64_t operations) { (void)operations; }
    // Together: before each step with operations every rank says which work it is about to do, by a number of the
    // rank's own that is not 0, or 0 where that cannot be recorded this time; true: no rank has said 0, and each then
    // calls together() with what puts that work on its streams: called where this work of these ranks is new to the
    // group.
    virtual bool agree(std::uint64_t work) { return work != 0; }
    virtual void together(const std::function<void()>& work) { work(); }

    // A new endpoint for this rank among `ranks` (of this group, ascending); every one of them must call it.
    virtual std::unique_ptr<Collective> subgroup(std::span<const int> ranks) = 0;

    // Any thread, any time: wakes every rank out of every wait. The first cause stays.
    virtual void abort(const AbortCause& cause) noexcept = 0;
    virtual AbortCause abortCause() const = 0;  // rank -1: not aborted
    // For someone who watches; any thread. The operation (its number among the group's, from 0) that this rank waits
    // for, if ranks have not come to it; and which have not.
    virtual std::optional<std::uint64_t> stalledAt() const = 0;
    virtual std::vector<int> missingAt(std::uint64_t operation) const = 0;
    // The same: an error of this rank's operations that it does not see for itself while it waits for others.
    virtual std::optional<AbortCause> failure() const { return std::nullopt; }
};

}  // namespace lockstep
