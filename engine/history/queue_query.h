#pragma once
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/history/trial_queue.h"
#include "engine/spec/metrics.h"
#include "engine/spec/trial_settings.h"

namespace lockstep {

// Reads what QueueStore writes. The thread and the problems of its query.
class QueueQuery {
public:
    explicit QueueQuery(const TrialQuery& query) : m_query(query) {}  // which outlives it

    std::vector<QueueEntry> entries() const;                        // in the order in which they are to be started
    std::vector<TrialGroup> groups(bool unfinished = false) const;  // newest first
    std::optional<TrialGroup> group(std::int64_t id) const;         //
    std::vector<GroupCell> cells(std::int64_t group) const;         // by number
    std::vector<GroupTrial> trials(std::int64_t group) const;       // by cell, then repeat
    // What its trials' evaluations say, by place and epoch, of each epoch the latest: also what an attempt took back
    // and has not evaluated anew yet, so that a cell that is trained again keeps its place among the others. `metric`:
    // measured by evaluations.
    std::vector<GroupValue> values(std::int64_t group, const Metric& metric) const;
    bool hasVirtualDevices(std::int64_t group) const;             // whether any of its trials began on such
    std::vector<RungArrival> arrivals(std::int64_t group) const;  // in their order
    // Trials that pause at rungs of groups which have not ended, with their group; of `trial` alone, where it is given.
    std::unordered_map<std::int64_t, std::int64_t> pausedAtRungs(std::optional<std::int64_t> trial = {}) const;
    std::unordered_map<std::int64_t, GroupPlace> places() const;  // of all trials that are in a group, the latest
    // Whose rows say that they are under way, in or outside the queue.
    struct UnderWay {
        std::int64_t trial = 0;
        std::string devices;
    };
    std::vector<UnderWay> underWay() const;
    // Trials that state all these settings (numbers to within a millionth), the oldest first: those that have finished,
    // and those that are queued or whose rows say that they are under way.
    std::vector<std::int64_t> finishedWith(std::span<const Setting> settings) const;
    std::vector<std::int64_t> openWith(std::span<const Setting> settings) const;
    struct Whereabouts {
        std::optional<RunState> state = {};  // as written
        bool isQueued = false, isHeld = false, isDeleted = false;
        std::optional<std::int64_t> sweep = {};  // that made it, and has not ended
    };
    std::optional<Whereabouts> whereabouts(std::int64_t trial) const;  // empty: it is gone

private:
    std::vector<std::int64_t> with(std::span<const Setting> settings, const std::string& condition) const;

    const TrialQuery& m_query;
};

}  // namespace lockstep
