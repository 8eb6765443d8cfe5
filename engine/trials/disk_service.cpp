#include "engine/trials/disk_service.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "engine/core/durable_file.h"
#include "engine/core/error.h"
#include "engine/core/utc_time.h"
#include "engine/core/whole_number.h"
#include "engine/history/queue_query.h"
#include "engine/history/run_folders.h"
#include "engine/session/lease.h"
#include "engine/spec/kept_checkpoints.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCheckpointFolder = "checkpoints/", kTraceFolder = "trace/", kLogFile = "run.log";
// A folder is made before the row that it is for, and copied before it is imported.
constexpr std::time_t kYoung = 600;

std::uint64_t weightOf(const std::vector<DiskFile>& files, auto&& belongs) {
    std::vector<DiskFile> some;
    std::ranges::copy_if(files, std::back_inserter(some), [&](const DiskFile& each) { return belongs(each.path); });
    return bytesOnDisk(some);
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

bool isLink(const fs::path& path) {
    std::error_code ignored;
    return fs::is_symlink(path, ignored);
}

OrphanWeight weighOrphan(const Places& places, std::int64_t trial) {
    OrphanWeight orphan{weighRun(places, trial), holdsTrial(places.run(trial)), 0};
    for (const DiskFile& each : orphan.run.files) orphan.changed = std::max(orphan.changed, each.changed);
    if (const auto folder = diskFileAt(places.run(trial))) orphan.changed = std::max(orphan.changed, folder->changed);
    return orphan;
}

std::uint64_t databaseBytes(const fs::path& history) {
    std::uint64_t bytes = 0;
    for (const char* ending : {"", "-wal", "-shm"})
        if (const auto file = diskFileAt(history.string() + ending)) bytes += file->bytes;
    return bytes;
}

std::optional<CheckpointFile> checkpointAt(const DiskFile& file) {
    if (!file.path.starts_with(kCheckpointFolder) || file.isFolder) return std::nullopt;
    return checkpointNamed(std::string_view(file.path).substr(kCheckpointFolder.size()));
}

// What a run that was killed left of one it was writing.
bool isTorn(const DiskFile& file) {
    if (!file.path.starts_with(kCheckpointFolder)) return false;
    const auto name = std::string_view(file.path).substr(kCheckpointFolder.size());
    const auto end = name.find(".tmp-");
    return name.starts_with('.') && end != name.npos && checkpointNamed(name.substr(1, end - 1)).has_value();
}

// A trial's checkpoints, the best first; those that nobody has judged come last.
std::vector<const DiskFile*> bestFirst(const TrialWeight& trial) {
    std::vector<const DiskFile*> files;
    for (const DiskFile& each : trial.run.files) {
        const auto at = checkpointAt(each);
        if (at && at->role != kLast) files.push_back(&each);
    }
    const auto place = [&](const DiskFile* each) {
        const auto at = *checkpointAt(*each);
        if (at.role == kBest) return std::tuple(-1L, at.epoch);
        const auto found = std::ranges::find(trial.bestEpochs, at.epoch);
        return std::tuple(static_cast<long>(found - trial.bestEpochs.begin()), at.epoch);
    };
    std::ranges::sort(files, {}, place);
    return files;
}

// What a resume goes on from: the last, unless one that was written after it goes further, as where a run was killed
// between the two; without a last the one that goes furthest. Empty: there is none.
std::string newestIn(const std::vector<DiskFile>& files, const fs::path& run) {
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

std::vector<DiskFile> checkpointsToFree(const TrialWeight& trial, const StaysKept& keep) {
    std::set<std::string> stay;
    if (keep.newest) stay.insert(trial.newest);
    const auto best = bestFirst(trial);
    const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(keep.best, 0, std::ssize(best)));
    for (std::size_t i = 0; i < count; ++i) stay.insert(best[i]->path);
    std::vector<DiskFile> files;
    for (const DiskFile& each : trial.run.files)
        if ((checkpointAt(each) && !stay.contains(each.path)) || isTorn(each)) files.push_back(each);
    return files;
}

bool wantsRung(const TrialWeight& trial, const FreeRequest& request) {
    return trial.atRungOf > 0 && request.keep && !request.keep->newest && !trial.newest.empty();
}

std::vector<DiskFile> filesToFree(const TrialWeight& trial, const FreeRequest& request) {
    std::vector<DiskFile> files;
    StaysKept keep = request.keep.value_or(StaysKept{});
    if (wantsRung(trial, request) && !request.atRungs) keep.newest = true;
    if (request.keep) files = checkpointsToFree(trial, keep);
    for (const DiskFile& each : trial.run.files)
        if (request.traces && each.path.starts_with(kTraceFolder) && !each.isFolder) files.push_back(each);
    return files;
}

bool isAmong(std::int64_t trial, const std::vector<TrialRange>& ranges) {
    return ranges.empty() || std::ranges::any_of(ranges, [trial](const TrialRange& each) {
               return each.first <= trial && trial <= each.second;
           });
}

bool isOldEnough(std::time_t since, const FreeRequest& request, std::time_t now) {
    return request.olderThan <= 0 || now - since >= request.olderThan;
}

void noteRung(const TrialWeight& trial, std::vector<AtRungs>& sweeps) {
    const auto known = std::ranges::find(sweeps, trial.atRungOf, &AtRungs::sweep);
    AtRungs& sweep = known != sweeps.end() ? *known : sweeps.emplace_back(AtRungs{.sweep = trial.atRungOf});
    sweep.trials.push_back(trial.run.trial);
    sweep.epochs += trial.epoch;
}

void planTrials(const DiskWeight& weight, std::time_t now, FreePlan& plan) {
    const FreeRequest& request = plan.request;
    if (!request.keep && !request.traces) return;
    for (const TrialWeight& each : weight.trials) {
        if (!isAmong(each.run.trial, request.trials)) continue;
        if (!each.mayBeFreed()) {
            plan.spared.push_back(each.run.trial);
            continue;
        }
        if (!isOldEnough(each.ended, request, now)) continue;
        if (wantsRung(each, request)) noteRung(each, plan.atRungs);
        auto files = filesToFree(each, request);
        if (!files.empty()) plan.items.push_back({FreeItem::Kind::Trial, each.run.trial, std::move(files)});
    }
    std::ranges::sort(plan.spared);
    std::ranges::sort(plan.atRungs, {}, &AtRungs::sweep);
    for (AtRungs& each : plan.atRungs) std::ranges::sort(each.trials);
}

bool mayGo(const OrphanWeight& orphan, const FreeRequest& request, std::time_t now) {
    return now - orphan.changed >= kYoung && isOldEnough(orphan.changed, request, now);
}

// Where the history is lost, all trials are orphans, and to be imported.
void planOrphans(const DiskWeight& weight, std::time_t now, FreePlan& plan) {
    if (!plan.request.orphans) return;
    const auto held = std::ranges::count(weight.orphans, true, &OrphanWeight::holdsTrial);
    if (weight.trials.empty() && held > 0) {
        plan.refused = Problem{"orphans", "disk.orphans-of-a-lost-history", {std::to_string(held)}};
        return;
    }
    for (const OrphanWeight& each : weight.orphans) {
        if (!mayGo(each, plan.request, now)) continue;
        plan.items.push_back({FreeItem::Kind::Orphan, each.run.trial, each.run.files, each.holdsTrial});
    }
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

std::optional<TrialRange> rangeIn(std::string_view word) {
    const auto dash = word.find('-');
    const auto first = wholeNumberIn(word.substr(0, dash));
    const auto last = dash == word.npos ? first : wholeNumberIn(word.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    return TrialRange{*first, *last};
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

Result<StaysKept> parseStays(std::string_view text) {
    if (text == "none") return StaysKept{false, 0};
    const auto kept = parseKept(text);
    if (!kept.ok()) return Problem{"keep", "disk.keep", {std::string(text)}};
    return StaysKept{true, kept.value().best};
}

Result<std::vector<TrialRange>> parseTrialRanges(std::string_view text) {
    std::vector<TrialRange> ranges;
    for (std::size_t at = 0; at <= text.size();) {
        const auto comma = std::min(text.find(',', at), text.size());
        const auto word = text.substr(at, comma - at);
        const auto range = rangeIn(word);
        if (!range) return Problem{"trials", "disk.trials", {std::string(text), std::string(word)}};
        ranges.push_back(*range);
        at = comma + 1;
    }
    return ranges;
}

Result<std::int64_t> parseAge(std::string_view text) {
    constexpr std::int64_t kHour = 3600, kDay = 24 * kHour, kMost = 100'000;
    const auto count = text.empty() ? std::nullopt : wholeNumberIn(text.substr(0, text.size() - 1));
    const std::int64_t unit = !count || *count > kMost ? 0
                              : text.back() == 'h'     ? kHour
                              : text.back() == 'd'     ? kDay
                              : text.back() == 'w'     ? 7 * kDay
                                                       : 0;
    if (unit == 0) return Problem{"older-than", "disk.age", {std::string(text)}};
    return *count * unit;
}

std::size_t countOf(const FreePlan& plan, FreeItem::Kind kind) {
    return static_cast<std::size_t>(std::ranges::count(plan.items, kind, &FreeItem::kind));
}

std::size_t lostTrials(const FreePlan& plan) {
    return static_cast<std::size_t>(std::ranges::count(plan.items, true, &FreeItem::holdsTrial));
}

FreePlan planFreeing(const DiskWeight& weight, const FreeRequest& request, std::time_t now) {
    FreePlan plan{.request = request};
    planTrials(weight, now, plan);
    planOrphans(weight, now, plan);
    if (request.caches && !weight.datasets.empty())
        plan.items.push_back({FreeItem::Kind::DatasetCache, 0, weight.datasets});
    if (request.caches && !weight.plans.empty()) plan.items.push_back({FreeItem::Kind::PlanCache, 0, weight.plans});
    std::ranges::stable_sort(plan.items, std::greater(), [](const FreeItem& each) { return bytesOnDisk(each.files); });
    std::vector<DiskFile> all;
    for (const FreeItem& each : plan.items) all.insert(all.end(), each.files.begin(), each.files.end());
    plan.bytes = bytesFreedBy(all);
    return plan;
}

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
        if (each.path.find(".decoded") != each.path.npos) weight.datasets.push_back(std::move(each));
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
    trial.newest = newestIn(trial.run.files, m_trials.places().run(row.id));
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
