#pragma once
#include <memory>
#include <vector>

#include "engine/collective/simulated_links.h"
#include "engine/train/plan_run.h"

namespace lockstep {

// One endpoint per rank: the backend's own group, or that of the host; behind simulated links where the spec asks for
// them.
LinkModel linkModel(const TrialSpec& spec);
std::vector<std::unique_ptr<Collective>> makeGroup(const ResolvedSpec& resolved);

}  // namespace lockstep
