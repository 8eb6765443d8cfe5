#include "ui/train/measured_speeds.h"

namespace lockstep::ui {

namespace {

constexpr int kNewest = 3;

QString kindOfTrial(const std::string& dataset, const std::string& model, const std::string& devices) {
    return QString::fromStdString(dataset + '\n' + model + '\n' + devices);
}

// Of one that was resumed the clock tells the last attempt alone.
std::optional<double> secondsPerSampleOf(const TrialRow& row) {
    const double samples = static_cast<double>(row.step) * static_cast<double>(row.batch);
    if (row.attempts == 1 && row.seconds && *row.seconds > 0 && samples > 0) return *row.seconds / samples;
    if (row.samplesPerSecond && *row.samplesPerSecond > 0) return 1 / *row.samplesPerSecond;
    return std::nullopt;
}

}  // namespace

MeasuredSpeeds::MeasuredSpeeds(const std::vector<TrialRow>& rows) {
    for (const TrialRow& row : rows) {
        if (row.state != text(RunState::Finished)) continue;
        Mean& mean = m_means[kindOfTrial(row.dataset, row.model, row.devices)];
        const auto seconds = mean.count < kNewest ? secondsPerSampleOf(row) : std::nullopt;
        if (!seconds) continue;
        mean.sum += *seconds;
        ++mean.count;
    }
}

std::optional<double> MeasuredSpeeds::secondsPerSample(const TrialSpec& trial) const {
    const auto mean = m_means.value(kindOfTrial(trial.dataset.id, trial.model.id, trial.devices));
    return mean.count > 0 ? std::optional(mean.sum / mean.count) : std::nullopt;
}

}  // namespace lockstep::ui
