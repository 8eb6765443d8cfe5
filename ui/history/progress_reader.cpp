#include "ui/history/progress_reader.h"

#include <algorithm>
#include <utility>

namespace lockstep::ui {

ProgressReader::Mark ProgressReader::markOf(const TrialRow& row) {
    return {row.attempts, row.step, row.epoch, row.seconds.value_or(-1), row.state};
}

ProgressOfTrials ProgressReader::read(const TrialQuery& query, std::span<const TrialRow> rows,
                                      std::span<const std::int64_t> trials, const std::string& metric) {
    auto& known = m_known[metric];
    std::vector<std::int64_t> stale;
    for (const std::int64_t trial : trials) {
        const auto row = std::ranges::lower_bound(rows, trial, std::ranges::greater(), &TrialRow::id);
        const bool hasRow = row != rows.end() && row->id == trial;
        Mark mark = hasRow ? markOf(*row) : Mark();
        const auto found = known.find(trial);
        if (hasRow && found != known.end() && found->second.mark == mark) continue;
        known[trial] = {std::move(mark), nullptr};
        stale.push_back(trial);
    }
    auto worlds = query.worlds(stale);
    auto evaluations = query.evaluationSeries(stale, metric);
    for (const std::int64_t trial : stale)
        known[trial].progress = std::make_shared<const TrialProgress>(
            TrialProgress{std::move(worlds[trial]), std::move(evaluations[trial])});
    ProgressOfTrials found;
    for (const std::int64_t trial : trials) found.emplace(trial, known[trial].progress);
    return found;
}

}  // namespace lockstep::ui
