#pragma once
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/wait_policy.h"
#include "engine/backend/device.h"
#include "engine/backend/host_memory.h"

namespace lockstep::cpu {

// The library plans for the calling thread's team, which is one of so many threads while this is there. What is planned
// for another may differ.
class TeamOf {
public:
    explicit TeamOf(int threads);
    ~TeamOf();
    TeamOf(const TeamOf&) = delete;
    TeamOf& operator=(const TeamOf&) = delete;

private:
    int m_before;
};

// A share of the cores: the OpenMP team of the thread that opened it, with N threads that treat denormals as zero, and
// that end with it: while more of them live than there are cores, whatever they do, those of all teams wait asleep.
// Threads are not pinned: the system places them better than we could on a machine shared with others.
class CpuDevice final : public Device {
public:
    explicit CpuDevice(const DeviceChoice& choice);
    ~CpuDevice() override;

    const DeviceChoice& choice() const override { return m_choice; }
    bool isHostMemory() const override { return true; }
    Buffer allocate(std::size_t bytes) override { return allocateHost(bytes); }
    Stream& stream(Lane) override { return m_stream; }

    std::unique_ptr<Kernel> prepare(const Graph& graph, const Node& node) override;
    std::unique_ptr<Kernel> prepareFill(DType dtype, std::size_t count, double value) override;
    std::unique_ptr<Kernel> prepareScale(DType dtype, std::size_t count, double factor) override;
    std::unique_ptr<Kernel> prepareAdd(DType dtype, std::size_t count) override;
    std::unique_ptr<Kernel> prepareSquareSum(DType dtype, std::size_t count) override;
    std::unique_ptr<Kernel> prepareGate(const UpdateRule& rule, std::size_t squareSums) override;
    std::unique_ptr<Kernel> prepareUpdate(const UpdateRule& rule, DType dtype, std::size_t count,
                                          std::span<const UpdateSegment> segments) override;
    std::unique_ptr<Kernel> prepareAverage(double decay, DType dtype, std::size_t count) override;
    std::unique_ptr<Kernel> prepareCommit(DType dtype, std::size_t count) override;

    HostTensor readLogical(const Value& value, const std::byte* at) override;
    void writeLogical(const Value& value, const HostTensor& tensor, std::byte* at) override;

private:
    DeviceChoice m_choice;
    int m_teamBefore;  // of the opening thread, given back at the end
    unsigned m_modeBefore;
    Machine m_machine;
    std::shared_ptr<WaitPolicy> m_waiting = WaitPolicy::shared();
    HostStream m_stream;
};

}  // namespace lockstep::cpu
