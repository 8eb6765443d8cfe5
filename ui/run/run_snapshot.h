#pragma once
#include "engine/history/trial_query.h"
#include "engine/session/places.h"
#include "engine/trials/trial_follower.h"
#include "ui/run/run_record.h"

namespace lockstep::ui {

// All that the history and the run's log tell of a trial at one moment.
struct RunSnapshot {
    RunRecord record;
    bool isReproducible = false;
};

// Any thread; may take seconds (a long history). Throws ProblemError.
RunSnapshot readSnapshot(const Places& places, const TrialBeginning& beginning);

// Whether the trial can be resumed from a file of its run directory.
bool hasCheckpoint(const Places& places, std::int64_t trial);

}  // namespace lockstep::ui
