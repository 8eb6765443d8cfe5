#include "engine/trials/disk_service.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "engine/core/durable_file.h"
#include "engine/core/error.h"
#include "engine/core/utc_time.h"
#include "engine/history/queue_query.h"
#include "engine/history/run_folders.h"
#include "engine/session/lease.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

bool isLink(const fs::path& path) {
    std::error_code ignored;
    return fs::is_symlink(path, ignored);
}

bool isSame(const DiskFile& a, const DiskFile& b) {
    return a.path == b.path && a.device == b.device && a.inode == b.inode && a.changed == b.changed;
}

// Before anything goes; on a full disk there may be room for it only afterwards.
bool mark(const fs::path& run) {
    try {
        replaceFile(run / kCheckpointFolder / kFreedMark, utcNow() + '\n');
        return true;
    } catch (const EngineError&) {
        return false;
    }
}

// What was planned and still is as it was.
std::vector<DiskFile> stillPlanned(const std::vector<DiskFile>& planned, const std::vector<DiskFile>& now) {
    std::vector<DiskFile> both;
    for (const DiskFile& each : now) {
        if (std::ranges::any_of(planned, [&](const DiskFile& before) { return isSame(before, each); }))
            both.push_back(each);
    }
    return both;
}

}  // namespace

DiskWeight DiskService::weigh() {
    DiskWeight weight;
    const Places& places = m_trials.places();
    std::set<std::int64_t> known;
    try {
        const auto paused = QueueQuery(m_trials.query()).pausedAtRungs();
        std::set<std::int64_t> queued;
        for (const QueueEntry& each : QueueQuery(m_trials.query()).entries()) queued.insert(each.trial);
        for (const bool deleted : {false, true}) {
            for (const TrialRow& row : m_trials.list({.deleted = deleted})) {
                weight.trials.push_back(weighTrial(row, queued.contains(row.id), paused));
                known.insert(row.id);
            }
        }
        weight.series = m_trials.query().seriesBytes();
    } catch (const ProblemError& error) {
        if (error.problem().code != "history.absent") throw;
    }
    std::ranges::stable_sort(weight.trials, std::greater(), [](const TrialWeight& each) { return each.run.total(); });
    for (const auto trial : runFolders(places.runs())) {
        if (known.contains(trial) || isLink(places.run(trial))) continue;
        weight.orphans.push_back(weighOrphan(places, trial));
    }
    weight.database = databaseBytes(places.history());
    for (DiskFile& each : filesBelow(places.cache)) {
        const auto isOf = [&](const char* kind) { return each.path.find(kind) != each.path.npos; };
        if (isOf(".decoded") || isOf(".pictures") || isOf(".picture-index")) weight.datasets.push_back(std::move(each));
        else if (each.path.find(".plans") != each.path.npos) weight.plans.push_back(std::move(each));
    }
    std::error_code unknown;
    const auto space = fs::space(places.runs(), unknown);
    if (!unknown) weight.available = space.available, weight.capacity = space.capacity;
    return weight;
}

// As it is now, under its lease.
TrialWeight DiskService::weighAgain(const TrialRow& row) {
    const QueueQuery queue(m_trials.query());
    const auto entries = queue.entries();
    const bool isQueued = std::ranges::find(entries, row.id, &QueueEntry::trial) != entries.end();
    return weighTrial(row, isQueued, queue.pausedAtRungs(row.id));
}

TrialWeight DiskService::weighTrial(const TrialRow& row, bool isQueued, const PausedAtRungs& paused) {
    TrialWeight trial;
    trial.isQueued = isQueued;
    if (const auto rung = paused.find(row.id); rung != paused.end()) trial.atRungOf = rung->second;
    trial.epoch = row.epoch;
    trial.run = weighRun(m_trials.places(), row.id);
    trial.state = runStateFrom(row.state).value_or(RunState::Queued);
    trial.isHeld = Lease::isHeld(m_trials.places().lease(row.id));
    trial.inTrash = row.deleted;
    trial.newest = newestCheckpoint(trial.run.files, m_trials.places().run(row.id));
    trial.ended = utcSeconds(row.finishedAt.empty() ? row.createdAt : row.finishedAt).value_or(0);
    trial.title = row.title, trial.dataset = row.dataset, trial.model = row.model;
    const bool keepsEpochs = std::ranges::any_of(trial.run.files, [](const DiskFile& each) {
        const auto at = checkpointAt(each);
        return at && at->epoch > 0;
    });
    if (keepsEpochs) trial.bestEpochs = m_trials.query().bestEpochs(row.id);
    return trial;
}

Freed DiskService::free(const FreePlan& plan) {
    Freed freed;
    for (const FreeItem& item : plan.items) {
        switch (item.kind) {
            case FreeItem::Kind::Trial: freeTrial(item, plan, freed); break;
            case FreeItem::Kind::Orphan: freeOrphan(item, plan, freed); break;
            case FreeItem::Kind::DatasetCache:
            case FreeItem::Kind::PlanCache: remove(m_trials.places().cache, item.files, freed); break;
        }
    }
    return freed;
}

// While the lease is ours nobody can begin to run the trial.
void DiskService::freeTrial(const FreeItem& item, const FreePlan& plan, Freed& freed) {
    const Places& places = m_trials.places();
    const fs::path folder = places.run(item.trial);
    if (isLink(folder)) return;
    try {
        const auto lease = Lease::tryAcquire(places.lease(item.trial));
        if (!lease) return freed.spared.push_back(item.trial);
        const auto row = m_trials.query().find(item.trial);
        const auto state = row ? runStateFrom(row->state) : std::nullopt;
        if (!state || *state == RunState::Queued) return freed.spared.push_back(item.trial);
        const TrialWeight now = weighAgain(*row);
        const auto files = stillPlanned(item.files, filesToFree(now, plan.request));
        if (now.isQueued || files.empty()) return freed.spared.push_back(item.trial);
        const bool needsMark =
            std::ranges::any_of(files, [](const DiskFile& each) { return checkpointAt(each).has_value(); });
        const bool isMarked = needsMark && mark(folder);
        remove(folder, files, freed);
        if (needsMark && !isMarked) mark(folder);
        freed.trials.push_back(item.trial);
    } catch (const EngineError& error) {
        freed.problems.push_back({folder.string(), "disk.not-removed", {error.what()}});
    }
}

bool DiskService::isKnown(std::int64_t trial) {
    try {
        return m_trials.query().find(trial).has_value();
    } catch (const ProblemError& error) {
        if (error.problem().code != "history.absent") throw;
        return false;
    }
}

// The look comes before the lease, whose file may be new to the folder.
void DiskService::freeOrphan(const FreeItem& item, const FreePlan& plan, Freed& freed) {
    const Places& places = m_trials.places();
    const fs::path folder = places.run(item.trial);
    if (isLink(folder)) return;
    try {
        const OrphanWeight now = weighOrphan(places, item.trial);
        const bool isAsPlanned = now.run.files.size() == item.files.size() &&
                                 stillPlanned(item.files, now.run.files).size() == item.files.size();
        if (!isAsPlanned || !mayGo(now, plan.request, std::time(nullptr))) return freed.spared.push_back(item.trial);
        const auto lease = Lease::tryAcquire(places.lease(item.trial));
        if (!lease || isKnown(item.trial)) return freed.spared.push_back(item.trial);
        std::error_code failed;
        fs::remove_all(folder, failed);
        if (failed) freed.problems.push_back({folder.string(), "disk.not-removed", {failed.message()}});
        else freed.bytes += bytesFreedBy(item.files);
    } catch (const EngineError& error) {
        freed.problems.push_back({folder.string(), "disk.not-removed", {error.what()}});
    }
}

void DiskService::remove(const fs::path& folder, const std::vector<DiskFile>& files, Freed& freed) const {
    std::vector<DiskFile> removed;
    for (const DiskFile& each : files) {
        const auto failed = removeFileBelow(folder, each.path);
        if (!failed) removed.push_back(each);
        else freed.problems.push_back({(folder / each.path).string(), "disk.not-removed", {failed.message()}});
    }
    freed.bytes += bytesFreedBy(removed);
}

}  // namespace lockstep
