#include "engine/queue/awaits.h"

#include <algorithm>

#include "engine/session/lease.h"
#include "engine/trials/judged_state.h"

namespace lockstep {

bool awaits(const QueueEntry& entry, const std::vector<QueueEntry>& queue, const TrialQuery& query,
            const Places& places) {
    if (!entry.after) return false;
    const bool isHeld = Lease::isHeld(places.lease(*entry.after));  // before the row: see judged_state.h
    const auto other = query.find(*entry.after);
    if (!other || other->deleted) return false;
    const bool isQueued = std::ranges::find(queue, *entry.after, &QueueEntry::trial) != queue.end();
    return isQueued || !isFinal(judgedState(*other, isHeld));
}

}  // namespace lockstep
