#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/history/trial_store.h"
#include "engine/session/lease.h"
#include "engine/session/places.h"
#include "engine/session/protocol.h"

namespace lockstep {

// The trials of a home, from outside their runs: listed with their judged states (judged_state.h), made, controlled,
// deleted. Opens the history when it is needed; one of an older version is brought up to date. One thread; calls wait
// for the disk, for a writer's lock, and control() for the run. They throw ProblemError: those of TrialStore and
// TrialQuery, and those named below.
class TrialService {
public:
    explicit TrialService(Places places) : m_places(std::move(places)) {}

    const Places& places() const { return m_places; }
    // Opens the history for reading; anew where another file has come to lie at its path. True: newly opened, and
    // nothing that was read before stands. Problem "history.absent" where there is none.
    bool open();
    void close();  // lets go of the file; the next call opens it again
    // What these return is good until the next call of either, should another file lie there by then.
    const TrialQuery& query();
    TrialStore& store();   // makes the history where there is none
    void settleCrashed();  // writes into the history who has crashed; makes it where there is none

    std::vector<TrialRow> list(const TrialFilter& filter);  // newest first
    TrialRow row(std::int64_t trial);                       // also of the trash. Problem "trial.unknown"

    // Makes the row of a spec that the caller has accepted: queued, until `lockstep train --trial` runs it.
    std::int64_t create(const TrialSpec& spec);

    // Removes a trial that was refused before it began, as purge() does; where that fails, its row stays and says why.
    void discard(std::int64_t trial) noexcept;

    // A queued trial is cancelled by "stop" and "stop-after-epoch", where nobody has just begun to run it.
    // Problems: "trial.not-running", and those of sendControl().
    enum class Controlled { Agreed, Cancelled };
    Controlled control(std::int64_t trial, const ControlCommand& control);

    // Lets a run that is paused, or is about to be, go on in its own process. False: no process holds the trial. One
    // that is about to end is waited for, ten seconds at most; `onWait` hears of it. Problems: "run.busy" (it runs, and
    // nobody has asked it to pause; or has not ended by then), and those of sendControl().
    bool goOnInPlace(std::int64_t trial, const std::function<void()>& onWait);

    // Writes into the row of a trial that nobody holds, where it is still as `seen`, which was read and not judged. No
    // engine begins to run it meanwhile. False: somebody has been faster, and nothing is written.
    bool changeState(const TrialRow& seen, RunState state);
    bool fail(const TrialRow& seen, const Problem& why);  // it was refused before it began
    bool cancelQueued(std::int64_t trial);

    // Where an engine holds it: "trial.running".
    void moveToTrash(std::int64_t trial);
    void restore(std::int64_t trial);
    // Removes its rows and its run directory for good. Returns "trial.files-left" where rows alone could be removed.
    std::optional<Problem> purge(std::int64_t trial);

private:
    struct Identity {  // of the file at the history's path
        std::uint64_t device = 0, file = 0;
        bool log = false;
        bool operator==(const Identity&) const = default;
        bool isSameFile(const Identity& other) const { return device == other.device && file == other.file; }
    };
    Identity identity() const;
    // Of one that is held: whether it goes on now. False: it is about to end. Throws as goOnInPlace().
    bool letGoOn(std::int64_t trial) const;
    // While it lives, no engine can begin to run the trial. Empty: somebody holds it.
    struct Claim {
        std::optional<Lease> lease = {};  // none where there is no run directory that could hold one
    };
    std::optional<Claim> tryClaim(std::int64_t trial) const;
    Claim remove(std::int64_t trial, bool purge);

    Places m_places;
    Identity m_identity, m_stored;  // of what the query, and the store, have opened
    std::unique_ptr<TrialStore> m_store;
    std::unique_ptr<TrialQuery> m_query;
};

}  // namespace lockstep
