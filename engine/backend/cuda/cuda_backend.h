#pragma once
#include "engine/backend/backend.h"
#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/nvml.h"

namespace lockstep::cuda {

// What is opened by name when the program runs.
struct LibraryFiles {
    std::string nccl = "libnccl.so.2", nvml = "libnvidia-ml.so.1";
};

// NVIDIA cards through the CUDA runtime. Exists only where a driver and at least one card were found.
class CudaBackend : public Backend {
public:
    explicit CudaBackend(int cards, LibraryFiles files = {})
        : m_cards(cards), m_files(std::move(files)), m_nvml(m_files.nvml) {}
    std::string_view name() const override { return "cuda"; }
    bool hostMemory() const override { return false; }
    std::vector<DeviceInfo> devices() const override;
    bool offers(Precision) const override { return true; }
    DType computeType(Precision precision) const override;
    Graph lower(const Graph& graph, const LowerOptions& options) const override;
    std::unique_ptr<Device> open(const DeviceChoice& choice) const override;
    std::vector<std::unique_ptr<Collective>> makeGroup(std::span<const DeviceChoice> ranks) const override;

private:
    int m_cards;
    LibraryFiles m_files;
    Nvml m_nvml;
    std::shared_ptr<CudaShared> m_shared = std::make_shared<CudaShared>();
};

}  // namespace lockstep::cuda
