#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/history/queue_query.h"
#include "engine/history/queue_store.h"
#include "engine/queue/next_trials.h"
#include "engine/queue/sweep_rungs.h"
#include "engine/trials/trial_service.h"

namespace lockstep {

// Makes the trials of sweeps as there is room for them, lets those at their rungs go on that have earned it, and ends
// sweeps of which nothing more comes. A trial of the history that trains the same as a cell is adopted in place of one
// of its own (same_trial.h): it is waited for, but stays what a person made it, beside those that the sweep may have at
// once. All that it goes by is in the history: another one, at any moment, does the same.
// The thread and the problems of its trials.
class SweepGrower {
public:
    struct Host {
        TrialService& trials;
        std::function<bool(std::int64_t trial)> isTaken;   // by an engine, or one was started for it
        std::function<void(const std::string& line)> log;  // for whoever looks why
    };
    explicit SweepGrower(Host host) : m_host(std::move(host)) {}

    bool grow(const std::vector<QueuedTrial>& queue);  // true: trials were made, let go on, or cancelled
    // Of the sweeps that have not ended, at the latest grow().
    const std::map<std::int64_t, GroupLimit>& limits() const { return m_limits; }

private:
    struct Sweep {
        SweepSpec spec;
        SearchSpace space;
        std::string json;          // as read
        std::vector<Cell> cells;   // that it has suggested: nobody else does while this process has the lease
        bool learns = false;       // its method looks at what came out
        bool isExhausted = false;  // there is no further one
        // Of trials that have finished, which stay as they are: what each has come to, read once.
        std::map<std::int64_t, std::optional<double>> finished = {};
    };
    // What the history says of a sweep, read once while its next trials are made; what is made is added.
    struct Seen {
        std::vector<GroupTrial> trials;
        const Metric* objective = nullptr;  // null: nobody asks, or no trial has begun
        RungFacts rungs = {};               // of a sweep with a scheduler
    };
    enum class Made { Nothing, Adopted, Trial };

    bool growOne(const TrialGroup& group, std::int64_t open);
    bool dropWaiting(const std::vector<QueuedTrial>& queue, std::int64_t group);
    bool dropOne(std::int64_t trial, bool isQueued);
    void end(const TrialGroup& group, GroupState state, const std::string& reason);
    void freePaused(const Sweep& sweep, const Seen& seen);
    std::optional<Problem> failureIn(const SweepSpec& sweep, std::span<const GroupTrial> made);
    Seen see(std::int64_t group, const Sweep& sweep);
    Made makeNext(std::int64_t group, Sweep& sweep, Seen& seen);
    std::optional<Cell> nextCellOf(Sweep& sweep, const Seen& seen);
    std::optional<double> bestOf(std::int64_t trial, Sweep& sweep, const Metric& objective);
    bool letNextGoOn(std::int64_t group, const Sweep& sweep, Seen& seen);
    Made makeTrial(const GroupPlace& place, const Sweep& sweep, const Cell& cell, Seen& seen);
    bool giveBack(const GroupTrial& trial);
    Sweep* sweepOf(const TrialGroup& group);

    void say(const std::string& line) const;
    QueueStore queueStore() { return QueueStore(m_host.trials.store()); }

    Host m_host;
    std::map<std::int64_t, Sweep> m_sweeps;
    std::map<std::int64_t, GroupLimit> m_limits;
};

}  // namespace lockstep
