#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>

#include "engine/backend/device.h"
#include "engine/data/loader.h"
#include "engine/spec/devices.h"

namespace lockstep {

// Of a loader of each of `ranks` ranks, where the number of its threads is not set: they share the cores.
inline int mostLoaderThreads(int ranks) { return std::max(1, permittedCores() / ranks); }

// Where the batches of a loader lie that programs of the device read: in slots of its own, or in memory for copies to
// the device, and then in one more, as a batch is copied while the one before it is computed. The device outlives the
// loader.
inline void placeSlots(LoaderOptions& options, Device& device) {
    constexpr int kSlots = 3;
    options.slotCount = kSlots;
    if (device.isHostMemory()) return;
    options.slotCount = kSlots + 1;
    options.slotMemory = [&device](std::size_t bytes) -> std::shared_ptr<std::byte> {
        const auto buffer = std::make_shared<Buffer>(device.allocateStaging(bytes));
        return {buffer, buffer->data()};
    };
}

}  // namespace lockstep
