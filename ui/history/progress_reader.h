#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "ui/history/trial_progress.h"

namespace lockstep::ui {

// Reads how many trials went, in a few statements; those that went no farther since the last time are kept. Belongs to
// the thread of its query. Throws ProblemError as TrialQuery does.
class ProgressReader {
public:
    // `rows`: of the history, newest first, not newer than what the query sees.
    ProgressOfTrials read(const TrialQuery& query, std::span<const TrialRow> rows, std::span<const std::int64_t> trials,
                          const std::string& metric);
    void forget() { m_known.clear(); }  // another history

private:
    // Whatever an evaluation or a start changes in the row.
    struct Mark {
        std::int64_t attempts = 0, step = 0, epoch = 0;
        double seconds = 0;
        std::string state = {};
        bool operator==(const Mark&) const = default;
    };
    struct Known {
        Mark mark;
        std::shared_ptr<const TrialProgress> progress;
    };

    static Mark markOf(const TrialRow& row);

    std::map<std::string, std::unordered_map<std::int64_t, Known>> m_known;  // by metric, then trial
};

}  // namespace lockstep::ui
