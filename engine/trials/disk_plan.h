#pragma once
#include <cstdint>
#include <ctime>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/result.h"
#include "engine/trials/disk_weight.h"

// What of the disk that a home takes a person frees.
namespace lockstep {

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

// What a plan is made of, for whoever looks again before it goes.
std::vector<DiskFile> filesToFree(const TrialWeight& trial, const FreeRequest& request);
bool mayGo(const OrphanWeight& orphan, const FreeRequest& request, std::time_t now);

}  // namespace lockstep
