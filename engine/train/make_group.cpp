#include "engine/train/make_group.h"

#include "engine/collective/host_group.h"

namespace lockstep {

LinkModel linkModel(const TrialSpec& spec) { return {spec.linkBandwidth * 1e6, spec.linkLatency * 1e-6}; }

std::vector<std::unique_ptr<Collective>> makeGroup(const ResolvedSpec& resolved) {
    auto group = resolved.backend->makeGroup(resolved.devices);
    if (group.empty()) group = makeHostGroup(static_cast<int>(resolved.devices.size()));
    if (!resolved.spec.simulatesLinks()) return group;
    return withSimulatedLinks(std::move(group), linkModel(resolved.spec));
}

}  // namespace lockstep
