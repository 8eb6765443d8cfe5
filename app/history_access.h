#pragma once
#include <memory>

#include "app/context.h"
#include "engine/history/trial_query.h"
#include "engine/history/trial_store.h"
#include "engine/session/places.h"

namespace lockstep {

// The history as the commands use it: opened, with crashed runs settled. Throws ProblemError.
struct History {
    Places places;
    std::unique_ptr<TrialStore> store;
    std::unique_ptr<TrialQuery> query;
};
History openHistory();

// The row, also of a trial in the trash. Throws ProblemError "trial.unknown".
TrialRow rowOf(const History& history, std::int64_t trial);

// Whether an engine runs the trial now.
bool isRunning(const History& history, std::int64_t trial);

// The trial's positional option, shared by the commands that take one.
CLI::Option* addTrialOption(CLI::App& command, std::int64_t& trial);

}  // namespace lockstep
