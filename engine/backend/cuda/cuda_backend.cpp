#include "engine/backend/cuda/cuda_backend.h"

#include <array>
#include <set>

#include "engine/backend/cuda/card_group.h"
#include "engine/backend/cuda/cuda_check.h"
#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/lowering.h"
#include "engine/backend/cuda/nccl_group.h"

namespace lockstep::cuda {

namespace {

// Whether cuDNN has the engines of norm_fusion.h for all of these cards: from Ampere to Hopper.
bool hasNormEngines(int cards) {
    for (int card = 0; card < cards; ++card) {
        int major = 0;
        check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, card), "cuda:" + std::to_string(card));
        if (major < 8 || major > 9) return false;
    }
    return true;
}

}  // namespace

std::vector<DeviceInfo> CudaBackend::devices() const {
    std::vector<DeviceInfo> list;
    std::vector<std::string> buses;
    for (int card = 0; card < m_cards; ++card) {
        const std::string id = "cuda:" + std::to_string(card);
        cudaDeviceProp properties{};
        std::array<char, 32> bus{};
        check(cudaGetDeviceProperties(&properties, card), id);
        check(cudaDeviceGetPCIBusId(bus.data(), bus.size(), card), id);
        list.push_back({id, properties.name, "cuda", properties.totalGlobalMem, 0});
        buses.emplace_back(bus.data());
    }
    std::vector<DeviceFacts> facts = m_nvml.of(buses);
    for (std::size_t i = 0; i < list.size(); ++i) list[i].facts = std::move(facts[i]);
    return list;
}

DType CudaBackend::computeType(Precision precision) const {
    if (precision == Precision::Bf16) return DType::BF16;
    return precision == Precision::Fp16 ? DType::F16 : DType::F32;
}

Graph CudaBackend::lower(const Graph& graph, const LowerOptions& options) const {
    const bool normsInConvolutions = options.precision == Precision::Fp16 && hasNormEngines(m_cards);
    return cuda::lower(graph, options.precision, normsInConvolutions, options.algorithms);
}

std::unique_ptr<Device> CudaBackend::open(const DeviceChoice& choice) const {
    return std::make_unique<CudaDevice>(choice, m_shared);
}

std::vector<std::unique_ptr<Collective>> CudaBackend::makeGroup(std::span<const DeviceChoice> ranks) const {
    if (ranks.size() == 1) return {};  // nothing is summed
    const std::set<int> cards = [&] {
        std::set<int> found;
        for (const DeviceChoice& rank : ranks) found.insert(rank.index);
        return found;
    }();
    const std::shared_ptr<const RankDevices> devices(m_shared, &m_shared->ranks);
    if (cards.size() < ranks.size()) return makeCardGroup(ranks, devices);
    return makeNcclGroup(ranks, devices, m_files.nccl);
}

}  // namespace lockstep::cuda
