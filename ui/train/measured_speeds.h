#pragma once
#include <QHash>
#include <QString>
#include <optional>
#include <vector>

#include "engine/history/trial_query.h"

namespace lockstep::ui {

// How long a sample took in trials of the history that have finished, by dataset, model and devices; evaluations and
// all else that such a trial did are counted in.
class MeasuredSpeeds {
public:
    MeasuredSpeeds() = default;
    explicit MeasuredSpeeds(const std::vector<TrialRow>& rows);  // newest first; of a kind the newest three count

    std::optional<double> secondsPerSample(const TrialSpec& trial) const;  // empty: none was like it

private:
    struct Mean {
        double sum = 0;
        int count = 0;
    };
    QHash<QString, Mean> m_means;
};

}  // namespace lockstep::ui
