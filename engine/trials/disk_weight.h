#pragma once
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/disk_use.h"
#include "engine/session/places.h"
#include "engine/spec/kept_checkpoints.h"
#include "engine/spec/run_state.h"

// What a home takes of the disk.
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

// No symbolic link below the folder is followed.
RunWeight weighRun(const Places& places, std::int64_t trial);
OrphanWeight weighOrphan(const Places& places, std::int64_t trial);
std::uint64_t databaseBytes(const std::filesystem::path& history);

// Of files below a run folder.
inline constexpr std::string_view kCheckpointFolder = "checkpoints/", kTraceFolder = "trace/";
std::optional<CheckpointFile> checkpointAt(const DiskFile& file);  // empty: it is none
// What a resume goes on from: the last, unless one that was written after it goes further, as where a run was killed
// between the two; without a last the one that goes furthest. Empty: there is none.
std::string newestCheckpoint(const std::vector<DiskFile>& files, const std::filesystem::path& run);

}  // namespace lockstep
