#pragma once
#include <span>
#include <vector>

#include "engine/plan/placement.h"
#include "engine/plan/program.h"

namespace lockstep {

// A step before the memory plan: the slots of `reads` and `writes` are not all known yet; they will come before those
// that the step has already.
struct DraftStep {
    Step step;
    std::vector<ValueId> reads, writes;
};

struct PassInput {
    const Graph& graph;
    const Placement& placement;
    const StoragePlan& storage;
    const ScalarSlots& scalars;
    Program::Kind kind = Program::Kind::Training;
    std::int64_t samples = 0;
    bool copiesInputs = false;  // the device cannot read the batch where it lies
    bool hasConstants = false;  // what depends on parameters and buffers alone becomes constant steps
};

// The steps of one pass: copies of its inputs, constant kernels, then the others, both in node order.
std::vector<DraftStep> schedulePass(const PassInput& input);

// What a pass without samples does: zeros, in place of what kernels would yield. They come in the order in which
// `like`, the steps of passes with samples, yields the same; where those all-reduce a value, it takes part with zeros.
std::vector<Step> scheduleEmptyPass(Program::Kind kind, const StoragePlan& storage, const ScalarSlots& scalars,
                                    std::span<const Step> like);

struct StepInput {
    Program::Kind kind = Program::Kind::Training;
    const StoragePlan& storage;
    const ScalarSlots& scalars;
    std::vector<bool> assigned;  // by buffer: the graph assigns it
    bool reduces = true;         // false: a world of one
};

// The passes one after another, each yield added to those before it as the tree of program.h wants; in the last pass
// each slice that ranks share is reduced as soon as nothing later touches it, always in the order statistics, scalars,
// bucket 0, 1, …, which therefore is the same on all ranks whatever their batch. The all-reduces within the passes stay
// where they are; in a world of one there are none. Then what concludes a training step. Slots of the passes are
// complete and already where each pass has them.
std::vector<Step> scheduleStep(const StepInput& input, std::vector<std::vector<Step>> passes);

}  // namespace lockstep
