#include "engine/train/disk_need.h"

#include <algorithm>

#include "engine/core/bytes_text.h"
#include "engine/core/disk_use.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestMargin = 1ull << 30, kMarginPart = 100;
constexpr std::uint64_t kTensorHeader = 128, kFileHeader = 8 << 10;  // JSON of a tensor; spec and position
constexpr std::uint64_t kNothingToTell = 64 << 20, kManyRuns = 1000;

std::uint64_t bytesOf(const StorageEntry& entry, DType dtype) {
    return static_cast<std::uint64_t>(entry.value.type.shape.count()) * sizeOf(dtype) + kTensorHeader;
}

std::uint64_t marginOf(const DiskRoom& room) { return std::min(kLargestMargin, room.capacity / kMarginPart); }

fs::path nearestExisting(fs::path folder) {
    std::error_code ignored;
    while (!folder.empty() && !fs::exists(folder, ignored) && folder != folder.parent_path())
        folder = folder.parent_path();
    return folder.empty() ? fs::path(".") : folder;
}

}  // namespace

DiskNeed diskNeed(const ResolvedSpec& resolved, const RunPlan& plan) {
    const StoragePlan& storage = *plan.ranks.front().training->storage;
    const int copies = 1 + storage.stateCount + (storage.averages ? 1 : 0);
    DiskNeed need;
    need.each = kFileHeader;
    for (const StorageEntry& entry : storage.parameters)
        need.each += static_cast<std::uint64_t>(copies) * bytesOf(entry, storage.keptType());
    for (const StorageEntry& entry : storage.frozen) need.each += bytesOf(entry, storage.keptType());
    for (const StorageEntry& entry : storage.buffers) need.each += bytesOf(entry, entry.value.type.dtype);
    const std::int64_t best = std::min(resolved.kept.best, resolved.spec.epochs);
    need.kept = 1 + best;
    // Of best:1 the file is replaced; of more a further one is there until the worst goes.
    const std::int64_t further = resolved.kept.best > 1 && resolved.spec.epochs > resolved.kept.best ? 1 : 0;
    need.most = need.kept + 1 + further;
    return need;
}

std::optional<DiskRoom> diskRoom(const fs::path& folder) {
    std::error_code unknown;
    const auto space = fs::space(nearestExisting(folder), unknown);
    if (unknown || space.capacity == 0) return std::nullopt;
    DiskRoom room{folder, space.available, space.capacity, 0};
    for (const DiskFile& each : filesBelow(folder))
        if (checkpointNamed(each.path)) room.taken += each.bytes;
    return room;
}

std::optional<Problem> shortOfDisk(const DiskNeed& need, const DiskRoom& room) {
    const std::uint64_t margin = marginOf(room), have = room.available + room.taken;
    const std::uint64_t usable = have - std::min(have, margin);
    if (need.bytesAtMost() <= usable) return std::nullopt;
    std::vector<std::string> args{bytesText(need.bytesAtMost()), bytesText(room.available), std::to_string(need.most),
                                  bytesText(need.each), bytesText(margin)};
    const auto fit = static_cast<std::int64_t>(usable / std::max<std::uint64_t>(need.each, 1));
    if (fit < 2) return Problem{room.folder.string(), "run.disk-at-any-number", std::move(args)};
    // Of the two beside the best one is the newest and one under way; of several best ones a further.
    args.push_back(fit >= 5 ? "best:" + std::to_string(fit - 3) : fit >= 3 ? "best:1" : "last");
    return Problem{room.folder.string(), "run.disk", std::move(args)};
}

std::optional<Problem> heavyOnDisk(const DiskNeed& need, const DiskRoom& room) {
    if (need.bytesKept() < kNothingToTell || need.bytesKept() < room.available / kManyRuns) return std::nullopt;
    if (need.kept == 1)
        return Problem{room.folder.string(), "run.heavy-checkpoint", {bytesText(need.each), bytesText(room.available)}};
    return Problem{
        room.folder.string(),
        "run.heavy-checkpoints",
        {bytesText(need.bytesKept()), std::to_string(need.kept), bytesText(need.each), bytesText(room.available)}};
}

}  // namespace lockstep
