#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "engine/history/queue_query.h"
#include "engine/history/queue_store.h"
#include "engine/queue/next_trials.h"
#include "engine/queue/sweep_results.h"
#include "engine/trials/trial_service.h"

namespace lockstep {

// A trial of the queue, as a person sees it.
struct QueueLine {
    QueueEntry entry;
    TrialRow row;  // its state judged
    bool isRunning = false;
    WaitReason reason = WaitReason::None;  // of one that waits; None: for its turn
};

// The queue of a home, for whoever lists and changes it. What is asked for is written down first; then a keeper is
// started where none is (`lockstep queue keep`), which does it. One thread; throws ProblemError: those of TrialService
// and QueueStore, "engine.missing", "engine.cannot-start".
class QueueService {
public:
    // `program`: lockstep itself.
    QueueService(TrialService& trials, std::filesystem::path program);

    std::vector<QueueLine> list();     // in the order in which they are to be started
    std::vector<TrialGroup> sweeps();  // newest first
    SweepResult sweep(std::int64_t group) { return sweepResult(m_trials.query(), group); }
    // Another one than before: somebody has written, and what was read may be out of date. Cheap.
    std::int64_t dataVersion() const { return m_trials.query().dataVersion(); }

    std::int64_t addTrial(const TrialSpec& spec, const QueueEntry& how = {});  // returns its number
    // A trial of the history that has not finished: it goes on where it stopped, or begins. Problem "queue.finished".
    void add(std::int64_t trial, const QueueEntry& how = {});
    std::int64_t addSweep(const SweepSpec& sweep);  // returns its number

    // Of one that runs already these four (not of releasing) are the problem "queue.runs".
    void moveBefore(std::int64_t trial, std::int64_t other);  // 0: to the end
    void moveFirst(std::int64_t trial);
    void setPriority(std::int64_t trial, std::int64_t priority);
    void setHeld(std::int64_t trial, bool held);
    void setAfter(std::int64_t trial, std::optional<std::int64_t> other);  // problem "queue.circle"
    // Of one that was held just now: an engine had been started for it, and runs. Waits some seconds where it cannot
    // know yet.
    bool hasBegunYet(std::int64_t trial);
    void cancel(std::int64_t trial);  // one that runs stops after its step, with a checkpoint

    void pauseSweep(std::int64_t group);     // what runs goes on to its end
    void goOnWithSweep(std::int64_t group);  // also of one that has failed, or was cancelled
    // What runs stops, what waits is cancelled; trials that it has adopted are a person's, and stay.
    void cancelSweep(std::int64_t group);
    // Of its trials that pause at rungs: those without a checkpoint, which train anew when they go on.
    std::int64_t freedAtRungs(std::int64_t group);
    // With so many cells in all. Problem "sweep.not-longer" where it has as many already.
    void extendSweep(std::int64_t group, std::int64_t cells);
    // Trials that have failed for good, and those that were cancelled, get another try; those that were removed are
    // made anew. Returns how many.
    std::int64_t retrySweep(std::int64_t group);

    void startKeeper();  // where none is
    // The same where there is work for one: the machine was started anew, or the one before was killed. Whoever looks
    // at the queue calls this, and every run at its end.
    bool keepGoing();  // true: it has started one
    bool hasWork();
    bool isKept() const;

private:
    QueueStore store() { return QueueStore(m_trials.store()); }
    QueueQuery query() { return QueueQuery(m_trials.query()); }
    struct Reading {  // each of the three by the same trials
        std::vector<QueueLine> lines = {};
        std::vector<QueuedTrial> queue = {};
        std::vector<WaitReason> reasons = {};
    };
    Reading read(const std::map<std::int64_t, GroupLimit>& groups);
    std::map<std::int64_t, GroupLimit> openSweeps();
    void startOrElse(const std::function<void()>& takeBack);
    TrialGroup groupOf(std::int64_t group);
    void cancelQuietly(std::int64_t trial);
    bool runs(std::int64_t trial) const;
    void requireWaiting(std::int64_t trial) const;

    TrialService& m_trials;
    std::filesystem::path m_program;
};

}  // namespace lockstep
