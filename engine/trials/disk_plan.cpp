#include "engine/trials/disk_plan.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "engine/core/whole_number.h"

namespace lockstep {

namespace {

// A folder is made before the row that it is for, and copied before it is imported.
constexpr std::time_t kYoung = 600;

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

std::optional<TrialRange> rangeIn(std::string_view word) {
    const auto dash = word.find('-');
    const auto first = wholeNumberIn(word.substr(0, dash));
    const auto last = dash == word.npos ? first : wholeNumberIn(word.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    return TrialRange{*first, *last};
}

}  // namespace

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

std::vector<DiskFile> filesToFree(const TrialWeight& trial, const FreeRequest& request) {
    std::vector<DiskFile> files;
    StaysKept keep = request.keep.value_or(StaysKept{});
    if (wantsRung(trial, request) && !request.atRungs) keep.newest = true;
    if (request.keep) files = checkpointsToFree(trial, keep);
    for (const DiskFile& each : trial.run.files)
        if (request.traces && each.path.starts_with(kTraceFolder) && !each.isFolder) files.push_back(each);
    return files;
}

bool mayGo(const OrphanWeight& orphan, const FreeRequest& request, std::time_t now) {
    return now - orphan.changed >= kYoung && isOldEnough(orphan.changed, request, now);
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

}  // namespace lockstep
