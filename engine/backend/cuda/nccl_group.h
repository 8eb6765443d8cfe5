#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/cuda/rank_devices.h"
#include "engine/backend/device.h"
#include "engine/collective/collective.h"

namespace lockstep::cuda {

// Ranks that are threads of this process with a card each: NCCL sums memory on cards, in whatever order suits it, the
// same bits on all ranks. One communicator to a rank, non-blocking, made when the rank first uses the group; memory of
// the host, barriers and subgroups' meetings go through a host group. A rank that waits for its streams looks after the
// communicator's health meanwhile: an error of NCCL's, or an abort of the group, ends the communicator, and with it the
// kernels on the card that wait for a rank that will not come. `library`: NCCL's file.
std::vector<std::unique_ptr<Collective>> makeNcclGroup(std::span<const DeviceChoice> ranks,
                                                       std::shared_ptr<const RankDevices> devices,
                                                       const std::string& library);

}  // namespace lockstep::cuda
