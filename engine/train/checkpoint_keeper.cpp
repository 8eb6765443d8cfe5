#include "engine/train/checkpoint_keeper.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace lockstep {

namespace fs = std::filesystem;

std::vector<FoundCheckpoint> findCheckpoints(const fs::path& folder) {
    std::vector<FoundCheckpoint> found;
    for (CheckpointFile& file : checkpointsIn(folder)) {
        const auto position = readCheckpointPosition(folder / checkpointName(file.role));
        if (!position.ok()) continue;
        const Checkpoint& at = position.value();
        found.push_back({std::move(file), at.step, at.epoch + (at.stepInEpoch > 0 ? 1 : 0), at.score});
    }
    return found;
}

std::string bestRole(const std::vector<FoundCheckpoint>& found) {
    const FoundCheckpoint* best = nullptr;
    for (const FoundCheckpoint& each : found) {
        if (each.file.role == kLast) continue;
        const Metric* metric = each.score ? findMetric(each.score->metric) : nullptr;
        if (!metric && each.file.role == kBest) return each.file.role;  // of before there were scores
        if (!metric) continue;
        if (!best || isBetter(*metric, each.score->value, best->score->value)) best = &each;
    }
    return best ? best->file.role : std::string();
}

// A "best" of before there were scores was the best of its time.
CheckpointKeeper::CheckpointKeeper(fs::path folder, KeptCheckpoints kept, const Metric& objective, bool goesOn)
    : m_folder(std::move(folder)), m_kept(kept), m_objective(&objective) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double unsurpassed = objective.better == Better::Lower ? -kInfinity : kInfinity;
    for (const FoundCheckpoint& each : findCheckpoints(m_folder)) {
        if (each.file.role == kLast) continue;
        const bool hasScore = each.score && each.score->metric == objective.key;
        if (!goesOn || (!hasScore && each.file.role != kBest)) m_others.push_back(each.file.role);
        else insert({each.file.role, each.epoch, hasScore ? each.score->value : unsurpassed});
    }
}

std::string CheckpointKeeper::take(std::int64_t epoch, double score, bool isBest) {
    if (m_kept.best == 0) {
        for (Entry& each : std::exchange(m_best, {})) m_others.push_back(std::move(each.role));
        return {};
    }
    const std::string role = m_kept.best == 1 ? std::string(kBest) : epochRole(epoch);
    if (m_kept.best == 1 && !isBest) return {};
    // An epoch that is done again counts as it turned out now.
    const auto again = std::ranges::find(m_best, role, &Entry::role);
    if (again != m_best.end()) {
        m_others.push_back(std::move(again->role));
        m_best.erase(again);
    }
    insert({role, epoch, score});
    const bool isKept = std::ranges::find(m_best, role, &Entry::role) != m_best.end();
    return isKept ? role : std::string();
}

std::vector<Problem> CheckpointKeeper::removeOthers() {
    std::vector<Problem> problems;
    for (const std::string& role : std::exchange(m_others, {})) {
        const fs::path file = m_folder / checkpointName(role);
        std::error_code failed;
        fs::remove(file, failed);
        if (failed) problems.push_back({file.string(), "checkpoint.not-removed", {failed.message()}});
    }
    return problems;
}

void CheckpointKeeper::insert(Entry entry) {
    const auto at = std::ranges::find_if(
        m_best, [&](const Entry& each) { return isBetter(*m_objective, entry.score, each.score); });
    std::erase(m_others, entry.role);
    m_best.insert(at, std::move(entry));
    if (std::ssize(m_best) <= std::max<std::int64_t>(m_kept.best, 1)) return;
    m_others.push_back(std::move(m_best.back().role));
    m_best.pop_back();
}

}  // namespace lockstep
