#pragma once
#include <functional>

#include "app/context.h"
#include "engine/trials/trial_service.h"

namespace lockstep {

// The trials as the commands use them: the history is made where there is none, and says which trials have crashed.
// Throws ProblemError.
TrialService openTrials();
// For whoever only reads: where nothing may be written (another's home, a full disk), read alone. `unwritten` hears
// why; of a context, with a word of it on the standard error.
TrialService openTrialsToRead(const std::function<void(const Problem& why)>& unwritten = {});
TrialService openTrialsToRead(const Context& context);

// Whoever looks at the queue: where it has work and nobody keeps it (a keeper was killed, or the machine started anew),
// a keeper is started. What is in the way is said on the standard error.
void keepQueueGoing(TrialService& trials, const Context& context);
// The same of a run at its end. Nobody looks at that: what is in the way, the next one meets.
void keepQueueGoing(const Places& places) noexcept;

// The trial's positional option, shared by the commands that take one.
CLI::Option* addTrialOption(CLI::App& command, std::int64_t& trial);

}  // namespace lockstep
