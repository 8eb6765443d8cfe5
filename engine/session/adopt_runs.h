#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/history/trial_store.h"
#include "engine/session/places.h"

namespace lockstep {

// Run folders whose trials the history does not know: of a history that was moved away, or lost.

// Their numbers, ascending. A folder without a spec and a checkpoint holds nothing to go on with, and is left out.
std::vector<std::int64_t> orphanedRuns(const TrialQuery& query, const Places& places);

// Makes the trial's row again from its folder: settings, attempts and events by spec.json and run.log, where it stands
// by its checkpoints. The numbers of single steps are lost. It ends as the log says, otherwise as crashed, and can be
// shown and resumed. Nothing in the folder changes. Problems: "run.busy" (an engine writes there),
// "run.nothing-to-import", those of spec files and of checkpoints, of the history.
std::optional<Problem> adoptRun(TrialStore& store, const Places& places, std::int64_t trial);

}  // namespace lockstep
