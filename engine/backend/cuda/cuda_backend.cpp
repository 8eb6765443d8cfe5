#include "engine/backend/cuda/cuda_backend.h"

#include <set>

#include "engine/backend/cuda/card_group.h"
#include "engine/backend/cuda/cuda_check.h"
#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/lowering.h"
#include "engine/backend/cuda/nccl_group.h"

namespace lockstep::cuda {

std::vector<DeviceInfo> CudaBackend::devices() const {
    std::vector<DeviceInfo> list;
    for (int card = 0; card < m_cards; ++card) {
        cudaDeviceProp properties{};
        check(cudaGetDeviceProperties(&properties, card), "cuda:" + std::to_string(card));
        list.push_back({"cuda:" + std::to_string(card), properties.name, "cuda", properties.totalGlobalMem, 0});
    }
    return list;
}

DType CudaBackend::computeType(Precision precision) const {
    if (precision == Precision::Bf16) return DType::BF16;
    return precision == Precision::Fp16 ? DType::F16 : DType::F32;
}

Graph CudaBackend::lower(const Graph& graph, const LowerOptions& options) const {
    return cuda::lower(graph, options.precision);
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
    return makeNcclGroup(ranks, devices, m_nccl);
}

}  // namespace lockstep::cuda
