#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/kernel.h"
#include "engine/backend/stream.h"
#include "engine/core/device_info.h"
#include "engine/core/tensor.h"
#include "engine/graph/graph.h"
#include "engine/ops/update.h"

namespace lockstep {

// Device (or host) memory, freed on destruction; 64-byte aligned or better.
class Buffer {
public:
    Buffer() = default;
    Buffer(std::byte* data, std::size_t bytes, std::function<void(std::byte*)> free)
        : m_data(data, std::move(free)), m_bytes(bytes) {}
    std::byte* data() const { return m_data.get(); }
    std::size_t bytes() const { return m_bytes; }

private:
    std::unique_ptr<std::byte, std::function<void(std::byte*)>> m_data;
    std::size_t m_bytes = 0;
};

// Work that was recorded, to be put on the device's compute lane again as one. Used by the device's thread.
class Recording {
public:
    virtual ~Recording() = default;
    virtual void replay() = 0;
};

// The flat steps of an update, all on slices of arenas whose elements are `dtype`.
struct UpdateKernels {
    DType dtype = DType::F32;
    UpdateRule rule;
};

// Opened, used and closed by one thread, the rank's. Throws EngineError (OutOfMemory, Device).
class Device {
public:
    virtual ~Device() = default;
    virtual const DeviceChoice& choice() const = 0;
    virtual bool isHostMemory() const = 0;           // arenas are ordinary memory: batches are read in place
    virtual Buffer allocate(std::size_t bytes) = 0;  // zeroed
    // Memory of the host for copies to and from the device, zeroed: pinned for cards, whose copies then go on beside
    // the host's work; it is read and written until they are done. Freed before the device, on any thread.
    virtual Buffer allocateStaging(std::size_t bytes);
    virtual Stream& stream(Lane lane) = 0;
    // Before the kernels of a step: a device whose kernels read the scalars from its own memory copies them there.
    virtual void beginStep(const StepScalars&) {}

    // Whether work of the compute lane can be recorded (CUDA graphs), and what `work`, which runs kernels that have run
    // before on that lane, puts there: recorded, not done.
    virtual bool records() const { return false; }
    virtual std::unique_ptr<Recording> record(const std::function<void()>& work);

    // The kernel of one node of a lowered graph. inputs/outputs of its calls are the node's values in order.
    virtual std::unique_ptr<Kernel> prepare(const Graph& graph, const Node& node) = 0;

    // Fill every element with a value.                    outputs: slice
    virtual std::unique_ptr<Kernel> prepareFill(DType dtype, std::size_t count, double value) = 0;
    // to = from x factor.                                 inputs: from; outputs: to
    virtual std::unique_ptr<Kernel> prepareScale(DType dtype, std::size_t count, double factor) = 0;
    // to += from.                                         inputs: from; outputs: to
    virtual std::unique_ptr<Kernel> prepareAdd(DType dtype, std::size_t count) = 0;
    // Sum of squares in double.                           inputs: slice; outputs: f64[1]
    virtual std::unique_ptr<Kernel> prepareSquareSum(DType dtype, std::size_t count) = 0;
    // The step's one decision: see UpdateGate. Not finite: any loss sum, weight or square sum.
    //   inputs: reduced loss sum, weight, sample count (f64[1] each), then one square sum per bucket; outputs: gate
    virtual std::unique_ptr<Kernel> prepareGate(const UpdateRule& rule, std::size_t squareSums) = 0;
    // dtype is that of gradients and parameters. Masters (of f16 and bf16 parameters alone; the parameters are they,
    // rounded), states and averages are of atLeastF32(dtype); element i of a slice is the same one in all of them.
    // inputs: gradient slice, gate; outputs: parameter slice[, master slice], one slice per optimizer state
    virtual std::unique_ptr<Kernel> prepareUpdate(const UpdateRule& rule, DType dtype, std::size_t count,
                                                  std::span<const UpdateSegment> segments) = 0;
    // See averageDecayAt; nothing is done when the gate skips.
    // inputs: parameter slice (of the masters, where there are any), gate; outputs: average slice[, the same in dtype]
    virtual std::unique_ptr<Kernel> prepareAverage(double decay, DType dtype, std::size_t count) = 0;
    // to = from, rounded to f16 or bf16. Refused unless overridden.      inputs: from (f32); outputs: to
    virtual std::unique_ptr<Kernel> prepareNarrow(DType dtype, std::size_t count);
    // buffers = staged x bufferScale unless skipped.      inputs: staged slice, gate; outputs: buffer slice
    virtual std::unique_ptr<Kernel> prepareCommit(DType dtype, std::size_t count) = 0;

    // The layout map: a logical, row-major tensor from and to the storage of `value` at `at` (device memory). Element
    // type of the tensor is the value's, also where the layout was made for a narrower one (masters: the same order of
    // elements). Padding of a blocked layout is written as zeros. Synchronous; not for the hot path.
    virtual HostTensor readLogical(const Value& value, const std::byte* at) = 0;
    virtual void writeLogical(const Value& value, const HostTensor& tensor, std::byte* at) = 0;
};

}  // namespace lockstep
