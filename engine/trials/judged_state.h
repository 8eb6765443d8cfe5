#pragma once
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/history/trial_store.h"
#include "engine/session/places.h"

namespace lockstep {

// The rule by which a trial has crashed: its row says that it is under way (preparing, running, paused, stopping), and
// nobody holds its lease. A queued trial is held by nobody, however long it waits.

bool isUnderWay(RunState state);

// `held`: the trial's lease, looked at before the row was read; whoever gives it up has written the last state before.
// A state that this version does not know counts as queued.
RunState judgedState(const TrialRow& row, bool held);

// Gives rows, as `query` read them, their judged states; a row that looks crashed is read again first, since its run
// may just have ended. True: one of them changed.
bool judge(std::vector<TrialRow>& rows, const TrialQuery& query, const Places& places);

// Writes "crashed" into the rows of those that have, the trash included.
void settleCrashed(TrialStore& store, const TrialQuery& query, const Places& places);

}  // namespace lockstep
