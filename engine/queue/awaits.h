#pragma once
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/history/trial_queue.h"
#include "engine/session/places.h"

namespace lockstep {

// Whether a trial of the queue has to wait for another one, which has not ended or will begin again. One in the trash,
// or removed, is not waited for.
bool awaits(const QueueEntry& entry, const std::vector<QueueEntry>& queue, const TrialQuery& query,
            const Places& places);

}  // namespace lockstep
