#pragma once
#include <cstdint>
#include <vector>

#include "engine/trials/trial_service.h"

namespace lockstep::ui {

// Trials that can stand beside one, sample by sample: others, finished or running, of the same dataset with as many
// classes, which have a checkpoint to ask. Newest first. Looks into their folders.
std::vector<std::int64_t> comparableTrials(TrialService& trials, std::int64_t trial);

}  // namespace lockstep::ui
