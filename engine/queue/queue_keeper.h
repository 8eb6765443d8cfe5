#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/history/queue_query.h"
#include "engine/history/queue_store.h"
#include "engine/queue/next_trials.h"
#include "engine/queue/sweep_grower.h"
#include "engine/session/lease.h"
#include "engine/trials/launch.h"
#include "engine/trials/trial_service.h"

namespace lockstep {

struct QueueHost {
    Places places;
    std::filesystem::path program;                          // `lockstep`, which runs a trial
    DeviceRequest devices;                                  // what the machine has
    std::function<void(const std::string&)> log = {};       // a line for whoever looks why
    std::function<std::string(const Problem&)> words = {};  // for that line; empty: by code and field
};

// The one process of a home that starts queued trials, and makes those of sweeps: it looks at the history, starts what
// the machine has room for, each as an engine of its own, and looks again. All that it goes by is in the history and in
// the leases of runs: killed at any moment, another one goes on where it was. Clients write into the history
// (QueueStore), which it notices within kPeriod; nobody talks to it.
class QueueKeeper {
public:
    static constexpr auto kPeriod = std::chrono::milliseconds(40);
    static constexpr auto kPatience = std::chrono::seconds(2);  // without anything to do, before it ends

    // Empty: another process keeps this home's queue.
    static std::unique_ptr<QueueKeeper> claim(QueueHost host);
    static bool isKept(const Places& places);

    // Until there is nothing left to do. Throws ProblemError of a history that cannot be read or written for longer
    // than a minute, and EngineError of its lease's file.
    void run();

private:
    QueueKeeper(QueueHost host, Lease lease);
    bool look();  // false: there is nothing to do, and nothing will come of itself

    bool isUnchanged();
    void lookAtLaunches();
    void answer(std::int64_t trial, const Launch::Outcome& outcome);
    void fail(std::int64_t trial, const Problem& problem);
    std::vector<QueuedTrial> readQueue();
    std::optional<QueuedTrial> lookAt(const QueueEntry& entry, const std::vector<QueueEntry>& entries);
    bool mayBeMended(QueuedTrial& trial);
    void stopUnlessWanted(std::int64_t trial);
    bool hasComeToItsRung(const QueueEntry& entry);
    bool takeOut(const QueuedTrial& trial, const TrialRow& seen);
    Demand demandOfTrial(const std::string& devices);
    Room roomBesides(const std::vector<QueuedTrial>& queue);
    void start(const QueuedTrial& trial);

    bool isTaken(std::int64_t trial) const;
    std::string wordsOf(const Problem& problem) const;
    void say(const std::string& line) const;
    QueueStore queueStore() { return QueueStore(m_trials.store()); }

    QueueHost m_host;
    std::optional<Lease> m_lease;
    TrialService m_trials;
    std::map<std::int64_t, Launch> m_launches;  // that have not answered
    SweepGrower m_sweeps;
    std::map<std::string, Demand> m_demands;                                    // by the words for devices
    std::map<std::int64_t, std::chrono::steady_clock::time_point> m_notBefore;  // of trials that met a passing trouble
    std::int64_t m_seen = -1;       // the history's version at the latest look
    std::set<std::int64_t> m_held;  // trials that an engine had then
    bool m_answered = false, m_hasWork = false;
};

}  // namespace lockstep
