#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/backend/bit_sums.h"
#include "engine/backend/stream.h"

namespace lockstep {

// The numbers that change from step to step without a new program. A device backend copies them to the device.
struct StepScalars {
    std::uint64_t seed = 0;
    std::int64_t epoch = 0;
    std::int64_t step = 0;  // optimizer updates done before this one
    double learningRate = 0;
    double lossScale = 1;  // gradients are those of the loss times this; the gate takes it out again
};

// Pointers into the arenas, in the order of the step's inputs and outputs. Inputs in the batch change from step to
// step, all others stay where they were at the first call.
struct KernelCall {
    std::span<std::byte*const> inputs, outputs;
    std::byte* workspace = nullptr;  // workspaceBytes() of scratch, 64-byte aligned, shared by all steps of a lane
    const StepScalars* scalars = nullptr;
    Stream* stream = nullptr;
};

// A prepared step: a oneDNN primitive, a cuDNN plan, a loop. Made once, run every step by the device's thread; run()
// allocates nothing itself. Throws EngineError(Device).
class Kernel {
public:
    virtual ~Kernel() = default;
    virtual std::size_t workspaceBytes() const { return 0; }
    virtual void run(const KernelCall& call) = 0;
    // run() that adds the bits of each output to its sums on the way. False: it cannot, and has done nothing.
    virtual bool runSummed(const KernelCall&, std::span<BitSums>) { return false; }
};

}  // namespace lockstep
