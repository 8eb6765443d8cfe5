#include "ui/history/queue_reader.h"

#include <algorithm>
#include <filesystem>

#include "engine/core/disk_use.h"
#include "engine/queue/queue_problem.h"

namespace lockstep::ui {

namespace {

std::int64_t stepsInAll(const TrialQuery& query, const QueueLine& line) {
    const auto started = line.isRunning ? query.started(line.entry.trial) : std::nullopt;
    return started ? started->stepsPerEpoch * started->epochs : 0;
}

std::uint64_t availableAt(const std::filesystem::path& folder) {
    std::error_code unknown;
    const auto space = std::filesystem::space(folder, unknown);
    return unknown ? 0 : space.available;
}

}  // namespace

bool SweepRow::hasEnded() const {
    return result.group.state == GroupState::Finished || result.group.state == GroupState::Cancelled;
}

QueueSnapshot QueueReader::read(TrialService& trials) {
    QueueService queue(trials, {});
    QueueSnapshot now;
    for (QueueLine& each : queue.list()) {
        const std::int64_t steps = stepsInAll(trials.query(), each);
        now.rows.push_back({std::move(each), steps});
    }
    std::ranges::stable_partition(now.rows, [](const QueueRow& each) { return each.line.isRunning; });
    for (const TrialGroup& each : queue.sweeps()) now.sweeps.push_back(sweep(trials, each));
    now.isKept = queue.isKept();
    now.available = availableAt(trials.places().runs());
    return now;
}

void QueueReader::forget() {
    m_ended.clear();
    m_bytes.clear();
}

// A sweep that cannot be read stands beside the others, and can be cancelled.
SweepRow QueueReader::sweep(TrialService& trials, const TrialGroup& group) {
    const auto known = m_ended.find(group.id);
    if (known != m_ended.end() && known->second.result.group == group) return known->second;
    SweepRow row;
    row.problem = problemFrom(group.reason);
    try {
        row.result = sweepResult(trials.query(), group.id);
    } catch (const ProblemError& error) {
        if (error.problem().code.starts_with("history.")) throw;
        row.result = {};
        row.result.group = group;
        row.problem = error.problem();
        row.isReadable = false;
    }
    row.bytesOfTrial = bytesOfTrial(trials, row.result);
    if (row.hasEnded()) m_ended.insert_or_assign(group.id, row);
    return row;
}

// Of the first cell whose trials have all finished: they weigh about the same, and looking costs time.
std::optional<std::uint64_t> QueueReader::bytesOfTrial(const TrialService& trials, const SweepResult& sweep) {
    const auto done = std::ranges::find_if(sweep.cells, [](const CellResult& each) {
        return each.finished > 0 && each.finished == std::ssize(each.trials);
    });
    if (done == sweep.cells.end()) return std::nullopt;
    const std::int64_t trial = done->trials.front();
    auto known = m_bytes.find(trial);
    if (known == m_bytes.end())
        known = m_bytes.emplace(trial, bytesOnDisk(filesBelow(trials.places().run(trial)))).first;
    return known->second > 0 ? std::optional(known->second) : std::nullopt;
}

}  // namespace lockstep::ui
