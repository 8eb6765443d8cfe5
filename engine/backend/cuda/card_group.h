#pragma once
#include <memory>
#include <span>
#include <vector>

#include "engine/backend/cuda/rank_devices.h"
#include "engine/backend/device.h"
#include "engine/collective/collective.h"

namespace lockstep::cuda {

// Ranks that are threads of this process, several of them on one card, which NCCL refuses; cards that differ must reach
// each other's memory. Memory on cards is summed by kernels, in the tree of collective.h; the ranks meet, wait and
// abort through a host group, which also takes memory of the host. start… returns at once and wait() as soon as all
// ranks have put their part on their streams: kernels that follow on the compute stream find the result. Ranks that all
// share one card have their steps recorded as one graph of that card.
//
// Which device a rank has is looked up in `devices` when it first uses the group. Throws EngineError(Collective) for
// more ranks than kMostRanks.
constexpr std::size_t kMostRanks = 32;
std::vector<std::unique_ptr<Collective>> makeCardGroup(std::span<const DeviceChoice> ranks,
                                                       std::shared_ptr<const RankDevices> devices);

}  // namespace lockstep::cuda
