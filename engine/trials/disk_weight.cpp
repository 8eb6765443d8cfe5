#include "engine/trials/disk_weight.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/history/run_folders.h"

namespace lockstep {

namespace {

constexpr std::string_view kLogFile = "run.log";

std::uint64_t weightOf(const std::vector<DiskFile>& files, auto&& belongs) {
    std::vector<DiskFile> some;
    std::ranges::copy_if(files, std::back_inserter(some), [&](const DiskFile& each) { return belongs(each.path); });
    return bytesOnDisk(some);
}

}  // namespace

std::uint64_t DiskWeight::runs() const {
    std::vector<DiskFile> all;
    for (const TrialWeight& each : trials) all.insert(all.end(), each.run.files.begin(), each.run.files.end());
    return bytesOnDisk(all);
}

std::uint64_t DiskWeight::orphaned() const {
    std::vector<DiskFile> all;
    for (const OrphanWeight& each : orphans) all.insert(all.end(), each.run.files.begin(), each.run.files.end());
    return bytesOnDisk(all);
}

RunWeight weighRun(const Places& places, std::int64_t trial) {
    RunWeight run{trial, 0, 0, 0, 0, filesBelow(places.run(trial))};
    const auto in = [](std::string_view start) {
        return [start](const std::string& path) { return path.starts_with(start); };
    };
    run.checkpoints = weightOf(run.files, in(kCheckpointFolder));
    run.traces = weightOf(run.files, in(kTraceFolder));
    run.logs = weightOf(run.files, in(kLogFile));
    const std::uint64_t all = bytesOnDisk(run.files), told = run.checkpoints + run.traces + run.logs;
    run.other = all - std::min(all, told);
    return run;
}

OrphanWeight weighOrphan(const Places& places, std::int64_t trial) {
    OrphanWeight orphan{weighRun(places, trial), holdsTrial(places.run(trial)), 0};
    for (const DiskFile& each : orphan.run.files) orphan.changed = std::max(orphan.changed, each.changed);
    if (const auto folder = diskFileAt(places.run(trial))) orphan.changed = std::max(orphan.changed, folder->changed);
    return orphan;
}

std::uint64_t databaseBytes(const std::filesystem::path& history) {
    std::uint64_t bytes = 0;
    for (const char* ending : {"", "-wal", "-shm"})
        if (const auto file = diskFileAt(history.string() + ending)) bytes += file->bytes;
    return bytes;
}

std::optional<CheckpointFile> checkpointAt(const DiskFile& file) {
    if (!file.path.starts_with(kCheckpointFolder) || file.isFolder) return std::nullopt;
    return checkpointNamed(std::string_view(file.path).substr(kCheckpointFolder.size()));
}

std::string newestCheckpoint(const std::vector<DiskFile>& files, const std::filesystem::path& run) {
    const DiskFile* last = nullptr;
    std::vector<const DiskFile*> others;
    for (const DiskFile& each : files) {
        const auto at = checkpointAt(each);
        if (at && at->role == kLast) last = &each;
        else if (at) others.push_back(&each);
    }
    if (last) std::erase_if(others, [&](const DiskFile* each) { return each->changed < last->changed; });
    if (others.empty()) return last ? last->path : std::string();
    const auto stepOf = [&](const DiskFile* each) { return checkpointStep(run / each->path).value_or(-1); };
    const DiskFile* furthest = *std::ranges::max_element(
        others, {}, [&](const DiskFile* each) { return std::pair(stepOf(each), each->changed); });
    return last && stepOf(last) >= stepOf(furthest) ? last->path : furthest->path;
}

}  // namespace lockstep
