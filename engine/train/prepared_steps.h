#pragma once
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/train/replica.h"

// What a replica makes of the steps of its programs, for its own files.
namespace lockstep {

struct Replica::PreparedStep {
    const Step* step = nullptr;
    Kernel* kernel = nullptr;
    std::vector<std::byte*> inputs, outputs;
    Stream* stream = nullptr;
    std::byte* workspace = nullptr;
    std::uint32_t name = 0, waitName = 0;
    bool records = false;  // a later step on another lane waits for this one
    EventRef event;
    Ticket ticket;
    std::int64_t started = 0;
    bool reducing = false;
};

// Steps that follow one another, which a device that records replays as one: see Device::record(). Kernels of the
// compute lane; where the group's operations can be recorded those, too, so that a whole step is one, of all ranks
// where they share a card.
struct Replica::Segment {
    std::size_t begin = 0, end = 0;        // of the steps
    std::vector<int> after{};              // steps before it that must be complete
    std::vector<std::size_t> awaited{};    // its own steps that steps behind it wait for
    std::uint64_t reductions = 0;          // all-reduces in it
    std::uint64_t number = 0;              // like no other's in this process
    std::uint32_t name = 0;                // in the trace
    std::unique_ptr<Recording> recording;  // null until the second run, and where ranks record together
};

struct Replica::Prepared {
    explicit Prepared(std::shared_ptr<const Program> p) : program(std::move(p)) {}
    std::shared_ptr<const Program> program;
    std::vector<std::unique_ptr<Kernel>> kernels;
    std::map<std::pair<const Graph*, NodeId>, Kernel*> nodeKernels;  // passes of one graph share them
    std::vector<PreparedStep> steps;
    std::vector<Segment> segments;
    bool reduces = false;  // there are all-reduces
    bool hasRun = false;   // kernels settle what they have to the first time
    // Pointers into the batch slot: written anew each step.
    struct BatchPointer {
        std::byte** pointer = nullptr;
        std::size_t offset = 0;
    };
    std::vector<BatchPointer> batchPointers;
    std::size_t controlOffset = 0;
    bool hasControl = false;
};

}  // namespace lockstep
