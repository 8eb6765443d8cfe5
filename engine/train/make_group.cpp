#include "engine/train/make_group.h"

#include "engine/collective/host_group.h"
#include "engine/collective/simulated_links.h"

namespace lockstep {

std::vector<std::unique_ptr<Collective>> makeGroup(const ResolvedSpec& resolved) {
    auto group = resolved.backend->makeGroup(resolved.devices);
    if (group.empty()) group = makeHostGroup(static_cast<int>(resolved.devices.size()));
    const TrialSpec& spec = resolved.spec;
    if (!spec.simulatesLinks()) return group;
    return withSimulatedLinks(std::move(group), {spec.linkBandwidth * 1e6, spec.linkLatency * 1e-6});
}

}  // namespace lockstep
