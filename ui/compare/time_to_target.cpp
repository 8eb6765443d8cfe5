#include "ui/compare/time_to_target.h"

#include <algorithm>
#include <limits>

namespace lockstep::ui {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Of ascending numbers; between the two in the middle of an even count.
std::optional<double> medianOf(const std::vector<double>& times) {
    if (times.empty()) return std::nullopt;
    const double low = times[(times.size() - 1) / 2], high = times[times.size() / 2];
    if (high == kNever) return std::nullopt;
    return (low + high) / 2;
}

}  // namespace

double amountAt(const EvaluationPoint& evaluation, PlotAxis axis, double stepsPerEpoch) {
    switch (axis) {
        case PlotAxis::Step: return static_cast<double>(evaluation.step);
        case PlotAxis::Epoch:
            return stepsPerEpoch > 0 ? static_cast<double>(evaluation.step) / stepsPerEpoch
                                     : static_cast<double>(evaluation.epoch);
        case PlotAxis::Samples: return evaluation.samples;
        case PlotAxis::Time: return evaluation.seconds;
        case PlotAxis::DeviceTime: return evaluation.deviceSeconds;
        case PlotAxis::Log: break;
    }
    return 0;
}

const EvaluationPoint* firstReaching(std::span<const EvaluationPoint> evaluations, double target, Better better) {
    if (better == Better::Neither) return nullptr;
    const auto reaches = [&](const EvaluationPoint& each) {
        return better == Better::Higher ? each.value >= target : each.value <= target;
    };
    const auto found = std::ranges::find_if(evaluations, reaches);
    return found == evaluations.end() ? nullptr : &*found;
}

TargetSummary summaryOf(std::span<const TargetRun> runs) {
    TargetSummary summary;
    std::vector<double> times;
    for (const TargetRun& run : runs) {
        summary.budget = std::max(summary.budget, run.budget);
        if (run.reached) ++summary.reached;
        else if (run.isOver) ++summary.unreached;
        else ++summary.underWay;
        if (run.reached || run.isOver) times.push_back(run.reached.value_or(kNever));
    }
    std::ranges::sort(times);
    summary.median = medianOf(times);
    return summary;
}

bool isEarlier(const TargetSummary& a, const TargetSummary& b) {
    if (a.median.has_value() != b.median.has_value()) return a.median.has_value();
    if (a.median) return *a.median < *b.median;
    if (a.reached != b.reached) return a.reached > b.reached;
    if ((a.budget > 0) != (b.budget > 0)) return a.budget > 0;  // what was never evaluated comes last
    return a.budget < b.budget;
}

}  // namespace lockstep::ui
