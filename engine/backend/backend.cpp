#include "engine/backend/backend.h"

#include "engine/backend/host_memory.h"
#include "engine/collective/collective.h"
#include "engine/core/error.h"

namespace lockstep {

std::vector<std::unique_ptr<Collective>> Backend::makeGroup(std::span<const DeviceChoice>) const { return {}; }

Buffer Device::allocateStaging(std::size_t bytes) { return allocateHost(bytes); }

std::unique_ptr<Recording> Device::record(const std::function<void()>&) {
    throw EngineError(EngineError::Kind::Internal, choice().id, "this device does not record");
}

std::unique_ptr<Kernel> Device::prepareNarrow(DType dtype, std::size_t) {
    throw EngineError(EngineError::Kind::Device, choice().id,
                      "nothing is narrowed to " + std::string(text(dtype)) + " on this device");
}

void refuseHalves(const Graph& graph, std::string_view backend, DType computed) {
    for (const Value& value : graph.values()) {
        if (!isHalf(value.type.dtype) || value.type.dtype == computed) continue;
        throw EngineError(
            EngineError::Kind::Device, value.name + " on " + std::string(backend),
            "the " + std::string(backend) + " backend has no kernels for " + std::string(text(value.type.dtype)));
    }
}

}  // namespace lockstep
