#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "engine/history/trial_query.h"
#include "engine/history/trial_store.h"
#include "engine/session/lease.h"
#include "engine/session/places.h"
#include "engine/train/open_data.h"

namespace lockstep {

// A run as a process: takes up a trial's row and its lease, leases its devices, fills the run directory (spec.json,
// program.txt, checkpoints, trace, run.log), opens the socket, runs the trainer, writes history, ends states. Blocks
// until the run is over.
struct SessionRequest {
    std::int64_t trial = 0;  // in the history, made by whoever accepted its spec
    bool resume = false;     // false: it is queued and begins; true: it goes on from its last checkpoint
    std::vector<EventSink*> extraSinks = {};  // the terminal
    RunControl* control = nullptr;            // the caller's, so that Ctrl+C reaches it
    // A rank hangs and its thread cannot be ended: history, socket and sinks are in order, and the process should end.
    std::function<void(const RunFailed& failure)> onStuck = {};
    ChangedData changedData = ChangedData::Refuse;  // of a trial that is resumed
    // Likewise: where checkpoints are gone or damaged, from what is left of them, or from its first step.
    bool mayStartAgain = false;
    // Likewise: the number that this attempt must come to have. Whoever was late finds that another has gone on.
    std::optional<std::int64_t> attempt = {};
};
struct SessionResult {
    RunResult run;
    bool started = false;  // there was a RunStarted; without one nothing came of the trial
};
// CPUs are shared; only GPUs are leased. While the data are read, the sinks and the socket are told how far
// (DataProgress), and a stop ends it with "dataset.cancelled": a queued trial is cancelled then. Where the trial is
// refused, no event is told: a queued one ends as "failed" and its row says why, one to be resumed stays as it was.
// From the first event on every failure is a RunFailed event and a Failed result, and the row ends in a final state.
// Problems: of validate(), of the dataset, "run.busy" (its lease is held), "device.busy", "history.…", "home.…",
// "run.not-queued", "run.no-checkpoint" (they are gone; a trial that never wrote one starts again, and says so),
// "run.not-resumable", "run.other-attempt", "run.folder-of-another" (another trial of that number wrote it), of
// compareData().
Result<SessionResult> runSession(const SessionRequest& request, const Environment& environment, const Places& places);

}  // namespace lockstep
