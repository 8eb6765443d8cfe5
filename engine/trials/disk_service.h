#pragma once
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/core/disk_use.h"
#include "engine/spec/run_state.h"
#include "engine/trials/trial_service.h"

// What a home takes of the disk, and what of it a person frees.
namespace lockstep {

// Files of one run folder, by what they are for.
struct RunWeight {
    std::int64_t trial = 0;  // the folder's number
    std::uint64_t checkpoints = 0, traces = 0, logs = 0, other = 0;
    std::uint64_t total() const { return checkpoints + traces + logs + other; }
    std::vector<DiskFile> files;  // below the run folder
};

struct TrialWeight {
    RunWeight run;
    RunState state = RunState::Queued;  // as judged by its lease
    bool isHeld = false;                // an engine has it, whatever its state
    bool inTrash = false;
    bool isQueued = false;  // it is to go on
    // The sweep, which has not ended, at one of whose rungs it pauses; 0: none. It goes on from its newest checkpoint,
    // if it is let go on.
    std::int64_t atRungOf = 0;
    std::int64_t epoch = 0;  // that it has come to
    std::time_t ended = 0;   // or, of one that has not, was made
    std::string title, dataset, model;
    std::vector<std::int64_t> bestEpochs;  // of one that keeps epochs: the best first
    std::string newest;                    // the checkpoint that a resume goes on from, among the files
    bool mayBeFreed() const { return isFinal(state) && !isHeld && !isQueued; }
};

struct OrphanWeight {
    RunWeight run;
    bool holdsTrial = false;  // `lockstep import` takes it in again
    std::time_t changed = 0;  // the newest of it
};

struct DiskWeight {
    std::uint64_t database = 0, series = 0;     // the history's files; of that the curves of single steps
    std::vector<TrialWeight> trials;            // the heaviest first
    std::vector<OrphanWeight> orphans;          // run folders that the history does not know
    std::vector<DiskFile> datasets, plans;      // caches: decoded images; which algorithms were the fastest
    std::uint64_t available = 0, capacity = 0;  // of the disk with the run folders; 0: unknown
    std::uint64_t runs() const;                 // of the trials
    std::uint64_t orphaned() const;
    std::uint64_t caches() const { return bytesOnDisk(datasets) + bytesOnDisk(plans); }
    std::uint64_t total() const { return database + runs() + orphaned() + caches(); }
};

// What stays of a trial's checkpoints: of best:3 the newest, which goes furthest, and the three best.
struct StaysKept {
    bool newest = true;
    std::int64_t best = 0;
    bool operator==(const StaysKept&) const = default;
};
// "none", "last", "best:3". Problem "disk.keep".
Result<StaysKept> parseStays(std::string_view text);

using TrialRange = std::pair<std::int64_t, std::int64_t>;                 // first and last
Result<std::vector<TrialRange>> parseTrialRanges(std::string_view text);  // "3,5,7-9". Problem "disk.trials"
Result<std::int64_t> parseAge(std::string_view text);  // "30d", "12h", "4w": seconds. Problem "disk.age"

struct FreeRequest {
    std::optional<StaysKept> keep;   // frees other checkpoints of trials that have ended
    bool traces = false;             // and their timelines
    std::int64_t olderThan = 0;      // seconds since they ended, or an orphan changed
    std::vector<TrialRange> trials;  // of trials: these alone; empty: all
    bool caches = false, orphans = false;
    // Also the newest checkpoint of trials that pause at rungs of sweeps: one that is let go on trains anew.
    bool atRungs = false;
    bool asksForAnything() const { return keep || traces || caches || orphans; }
};

struct FreeItem {
    enum class Kind { Trial, Orphan, DatasetCache, PlanCache };
    Kind kind = Kind::Trial;
    std::int64_t trial = 0;
    std::vector<DiskFile> files;  // below the trial's run folder, or the folder of caches
    bool holdsTrial = false;      // of an orphan
};
// A sweep, trials that pause at its rungs, and how many epochs they have trained in all.
struct AtRungs {
    std::int64_t sweep = 0;
    std::vector<std::int64_t> trials = {};
    std::int64_t epochs = 0;
};
struct FreePlan {
    FreeRequest request = {};
    std::vector<FreeItem> items = {};       // the heaviest first; nothing of what runs, is paused or queued
    std::uint64_t bytes = 0;                // that would be given back
    std::vector<std::int64_t> spared = {};  // trials that were asked for and have not ended
    // Whose newest checkpoint was asked for: it stays, unless the request says otherwise.
    std::vector<AtRungs> atRungs = {};
    std::optional<Problem> refused = {};  // "disk.orphans-of-a-lost-history": the orphans are left out
};
std::size_t countOf(const FreePlan& plan, FreeItem::Kind kind);
std::size_t lostTrials(const FreePlan& plan);  // orphans that `lockstep import` could have taken in again
// Reads nothing: of what was weighed.
FreePlan planFreeing(const DiskWeight& weight, const FreeRequest& request, std::time_t now);

struct Freed {
    std::uint64_t bytes = 0;
    std::vector<std::int64_t> trials;  // of which something was freed
    std::vector<std::int64_t> spared;  // that have begun to run meanwhile, or changed
    std::vector<Problem> problems;     // "disk.not-removed"
};

// One thread, like the service that it asks. What is weighed are blocks of the disk, see disk_use.h; no symbolic link
// below the home is followed.
class DiskService {
public:
    explicit DiskService(TrialService& trials) : m_trials(trials) {}

    DiskWeight weigh();
    // Each trial under its lease, after another look at its row and files: what is not as planned stays. An orphan goes
    // whole or stays, after such a look as well. A folder of checkpoints that loses some gets a mark first, see
    // kept_checkpoints.h.
    Freed free(const FreePlan& plan);

private:
    using PausedAtRungs = std::unordered_map<std::int64_t, std::int64_t>;
    TrialWeight weighTrial(const TrialRow& row, bool isQueued, const PausedAtRungs& paused);
    TrialWeight weighAgain(const TrialRow& row);
    bool isKnown(std::int64_t trial);
    void freeTrial(const FreeItem& item, const FreePlan& plan, Freed& freed);
    void freeOrphan(const FreeItem& item, const FreePlan& plan, Freed& freed);
    void remove(const std::filesystem::path& folder, const std::vector<DiskFile>& files, Freed& freed) const;

    TrialService& m_trials;
};

}  // namespace lockstep
