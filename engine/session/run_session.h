#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "engine/history/trial_query.h"
#include "engine/history/trial_store.h"
#include "engine/session/lease.h"
#include "engine/session/places.h"
#include "engine/train/trainer.h"

namespace lockstep {

// A run as a process: creates the row, the run directory (spec.json, program.txt, checkpoints, trace, run.log), takes
// the leases of the run and its devices, opens the socket, runs the trainer, writes history, ends states. Blocks until
// the run is over.
struct SessionRequest {
    TrialSpec spec;
    std::optional<std::int64_t> resumeTrial;  // resume this trial from its last checkpoint
    std::vector<EventSink*> extraSinks;       // the terminal
    RunControl* control = nullptr;            // the caller's, so that Ctrl+C reaches it
    // A rank hangs and its thread cannot be ended: history, socket and sinks are in order, and the process should end.
    std::function<void(const RunFailed& failure)> onStuck = {};
};
struct SessionResult {
    std::int64_t trial = 0;
    RunResult run;
};
// A resumed trial keeps its own spec. CPUs are shared; only GPUs are leased. From the first event on every failure is a
// RunFailed event and a Failed result, and the row ends in a final state.
// Problems: of validate(), of the dataset, "run.busy" (its lease is held), "device.busy", "history.…", "home.…",
// "run.no-checkpoint", "run.not-resumable", "run.folder-of-another" (another trial of that number wrote it).
Result<SessionResult> runSession(const SessionRequest& request, const Environment& environment, const Places& places);

}  // namespace lockstep
