#pragma once
#include <array>
#include <memory>
#include <vector>

#include "engine/backend/cuda/cuda_stream.h"
#include "engine/backend/cuda/libraries.h"
#include "engine/backend/cuda/rank_devices.h"
#include "engine/backend/device.h"
#include "engine/core/user_folders.h"

namespace lockstep::cuda {

// What all devices of a backend share.
struct CudaShared {
    RankDevices ranks;
    PlanCaches plans{cacheFolder()};
};

// One card as one rank uses it; see Device. The card is current on the owning thread from construction on.
class CudaDevice final : public Device {
public:
    CudaDevice(DeviceChoice choice, std::shared_ptr<CudaShared> shared);
    ~CudaDevice() override;

    const DeviceChoice& choice() const override { return m_choice; }
    bool isHostMemory() const override { return false; }
    Buffer allocate(std::size_t bytes) override;
    Buffer allocateStaging(std::size_t bytes) override;
    Stream& stream(Lane lane) override { return *m_streams[static_cast<std::size_t>(lane)]; }
    void beginStep(const StepScalars& scalars) override;
    bool records() const override { return true; }
    std::unique_ptr<Recording> record(const std::function<void()>& work) override;

    Libraries& libraries() { return *m_libraries; }
    // On the card: those of the step that runs.
    const StepScalars* scalars() const { return reinterpret_cast<const StepScalars*>(m_scalars.data()); }
    // A copy on the card.
    template <class T>
    Buffer upload(const std::vector<T>& elements) {
        return upload(elements.data(), elements.size() * sizeof(T));
    }

    std::unique_ptr<Kernel> prepare(const Graph& graph, const Node& node) override;
    std::unique_ptr<Kernel> prepareFill(DType dtype, std::size_t count, double value) override;
    std::unique_ptr<Kernel> prepareScale(DType dtype, std::size_t count, double factor) override;
    std::unique_ptr<Kernel> prepareAdd(DType dtype, std::size_t count) override;
    std::unique_ptr<Kernel> prepareSquareSum(DType dtype, std::size_t count) override;
    std::unique_ptr<Kernel> prepareGate(const UpdateRule& rule, std::size_t squareSums) override;
    std::unique_ptr<Kernel> prepareUpdate(const UpdateRule& rule, DType dtype, std::size_t count,
                                          std::span<const UpdateSegment> segments) override;
    std::unique_ptr<Kernel> prepareAverage(double decay, DType dtype, std::size_t count) override;
    std::unique_ptr<Kernel> prepareNarrow(DType dtype, std::size_t count) override;
    std::unique_ptr<Kernel> prepareCommit(DType dtype, std::size_t count) override;

    HostTensor readLogical(const Value& value, const std::byte* at) override;
    void writeLogical(const Value& value, const HostTensor& tensor, std::byte* at) override;

private:
    void synchronize();
    Buffer upload(const void* data, std::size_t bytes);

    DeviceChoice m_choice;
    std::shared_ptr<CudaShared> m_shared;
    std::unique_ptr<Libraries> m_libraries;
    Buffer m_scalars, m_stagedScalars;
    std::array<std::unique_ptr<CudaStream>, 3> m_streams;
};

}  // namespace lockstep::cuda
