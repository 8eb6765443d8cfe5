#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/history/adopted_trial.h"
#include "engine/spec/data_known.h"
#include "engine/spec/evaluation.h"
#include "engine/spec/run_state.h"
#include "engine/spec/train_event.h"
#include "engine/spec/trial_spec.h"

namespace lockstep {

class HistoryWriter;

// What a trial's row said when it was read, for whoever changes it on that ground.
struct TrialSeen {
    std::int64_t trial = 0;
    std::string state = {};
    std::int64_t attempts = 0;
};

// The writer of the history: one SQLite file that any number of processes write at once (WAL, BEGIN IMMEDIATE,
// synchronous=FULL). Owns a thread, a connection and a bounded queue. Series are stored as columnar chunks; steps are
// committed after about 250 ms. A committed row survives kill -9 and power loss. The schema's numbered SQL files are in
// resources/schema. Calls come from any thread; the synchronous ones throw ProblemError: "history.full",
// "history.unwritable", "history.busy", "history.corrupt", and "history.no-such-trial" where a trial is named.
class TrialStore {
public:
    // Opens or creates the file and migrates it. Problems: "history.newer" (written by a newer version: nothing is
    // touched), "history.unwritable", "history.corrupt", "history.not-a-history", "history.busy", "history.full".
    static Result<std::unique_ptr<TrialStore>> open(const std::filesystem::path& file);
    ~TrialStore();  // flushes

    // Synchronous: returns once the row is committed. The state is "queued". The run directory, runs/<id>, is made here
    // and was not there before: see run_folders.h. Also throws ProblemError "home.unwritable".
    std::int64_t createTrial(const TrialSpec& spec, const std::filesystem::path& runs);
    // A row under the number that the trial has already. Throws ProblemError "history.refused" where there is one.
    void adoptTrial(const AdoptedTrial& trial, const std::filesystem::path& runDirectory);  // synchronous
    // A new attempt of the same trial (first start or resume): its series are cut back to `fromStep`, what its end left
    // in the row is cleared. Returns the attempt's number, from 1. Synchronous.
    std::int64_t beginAttempt(std::int64_t trial, std::int64_t fromStep);
    // Returns its number; the row's own id and time do not count. `known`: of the trial's own data, as its checkpoint
    // says; it is kept where the trial's row says nothing yet. Synchronous.
    std::int64_t addEvaluation(const Evaluation& evaluation, const DataKnown& known = {});
    void setKnown(std::int64_t trial, const DataKnown& known);  // of its data, when it begins; synchronous
    void setState(std::int64_t trial, RunState state);          // synchronous; its lease is the caller's
    // Where the row is still as it was seen, looked at and written in one transaction. False: it is not, or there is no
    // such trial, and nothing is written. Synchronous.
    bool changeState(const TrialSeen& seen, RunState state);
    bool failTrial(const TrialSeen& seen, const RunFailed& why);  // by an attempt that did not begin
    bool deleteTrial(const TrialSeen& seen, bool purge);
    void setSpec(std::int64_t trial, const TrialSpec& spec);      // as it is run; the title stays
    void setTitle(std::int64_t trial, const std::string& title);  // the spec as accepted keeps its own
    void setNote(std::int64_t trial, const std::string& note);
    void setTags(std::int64_t trial, const std::vector<std::string>& tags);  // replaces them; empty ones are none
    void setStar(std::int64_t trial, bool star);
    void setArchived(std::int64_t trial, bool archived);
    // Of those of these trials that have ended without them: the levels that TrialQuery::decimatedSeries() draws long
    // series from, each trial in a transaction of its own. How many trials it was. Synchronous.
    int addLevels(const std::vector<std::int64_t>& trials);
    // Moves the trial to the trash (sets deleted); `purge` removes its rows for good. Synchronous.
    void deleteTrial(std::int64_t trial, bool purge);
    void restoreTrial(std::int64_t trial);

    // A sink for the events of one attempt; posts go to the queue, state events wait for their commit, and
    // StateChanged, EvalDone, RunFinished and RunFailed also set the trial's row. When the disk refuses (full,
    // read-only), the store keeps what it has, tries again every second, and says so once through `onTrouble` (on the
    // store's thread); should 65,536 events gather meanwhile, step events wait: the run stands still rather than lose
    // any. Use no sink after its store.
    std::shared_ptr<EventSink> sinkFor(std::int64_t trial, std::int64_t attempt);
    void onTrouble(std::function<void(const Problem&)> handler);
    std::int64_t committedEvent(std::int64_t trial) const;  // the newest number that this store has committed
    void flush();                                           // returns when all is committed, or trouble is known

    HistoryWriter& writer();  // for other stores of the same file
    const std::filesystem::path& file() const;

private:
    class Impl;
    explicit TrialStore(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

}  // namespace lockstep
