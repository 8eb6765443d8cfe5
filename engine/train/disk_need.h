#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

#include "engine/train/plan_run.h"

namespace lockstep {

// What the checkpoints of a run weigh: parameters, averages, running statistics, and what the optimizer keeps of each
// parameter, as in the files.
struct DiskNeed {
    std::uint64_t each = 0;  // bytes of one
    std::int64_t kept = 1;   // that stay at the end, at most: a run that ends early may have no best one
    std::int64_t most = 2;   // that are there at once: a new one is whole before an old one goes
    std::uint64_t bytesKept() const { return each * static_cast<std::uint64_t>(kept); }
    std::uint64_t bytesAtMost() const { return each * static_cast<std::uint64_t>(most); }
};
DiskNeed diskNeed(const ResolvedSpec& resolved, const RunPlan& plan);

// What is free where the folder is, or will be, and what checkpoints in it take already.
struct DiskRoom {
    std::filesystem::path folder;
    std::uint64_t available = 0, capacity = 0, taken = 0;
};
std::optional<DiskRoom> diskRoom(const std::filesystem::path& folder);  // empty: nobody knows

// Where the run would not fit, a problem, "run.disk" or, if one checkpoint alone does not fit,
// "run.disk-at-any-number". A hundredth of the disk, at most 1 GiB, is left to the history, to logs and to others.
std::optional<Problem> shortOfDisk(const DiskNeed& need, const DiskRoom& room);
// Where a thousand such runs would fill the disk, what this one weighs: "run.heavy-checkpoints", of one that keeps a
// single one "run.heavy-checkpoint".
std::optional<Problem> heavyOnDisk(const DiskNeed& need, const DiskRoom& room);

}  // namespace lockstep
