#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/device.h"
#include "engine/collective/collective.h"
#include "engine/core/trace.h"
#include "engine/plan/program.h"

namespace lockstep {

// One model on one device: the arenas, and the prepared kernels of its programs. Belongs to one thread, the rank's.
class Replica {
public:
    // `programs` share one StoragePlan; `trace` may be null.
    Replica(Device& device, Collective& group, std::vector<std::shared_ptr<const Program>> programs, TraceBoard* trace);
    ~Replica();

    // Fills parameters and buffers by their initializers (keyed by seed and name); rank 0's values reach all by broadcast.
    void initialize(std::uint64_t seed);

    struct StepTimes { double compute = 0, reduce = 0; };          // seconds
    // Runs one step of programs[which] on the batch slot at `batch`. `control` is this rank's request (see Program).
    // On return the scalars are on the host. Throws EngineError.
    StepTimes run(std::size_t which, std::byte* batch, const StepScalars& scalars, double control = 0);
    double scalar(std::size_t which, std::string_view name) const;       // of the last run; reduced for training programs
    UpdateGate gate(std::size_t which) const;

    // Logical tensors by canonical name: "<parameter>", "<buffer>", "<state>.<parameter>". For checkpoints, hashes, tests.
    std::vector<std::string> tensorNames() const;
    HostTensor read(const std::string& name);
    void write(const std::string& name, const HostTensor& tensor);
    HostTensor readGradient(const std::string& parameter);               // of the last training step, summed over ranks
    std::uint64_t hash();                                                // over all logical tensors, in name order

    // A hook before each step of a program, for fault injection in tests: (program, step index).
    std::function<void(std::size_t, std::size_t)> beforeStep;

private:
    struct Prepared;
    Device& m_device;
    Collective& m_group;
    TraceBoard* m_trace;
    TraceLane* m_computeLane = nullptr;
    TraceLane* m_reduceLane = nullptr;
    std::vector<std::unique_ptr<Prepared>> m_programs;
    std::vector<Buffer> m_arenas;
    Buffer m_workspace;
};

}  // namespace lockstep
