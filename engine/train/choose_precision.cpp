#include "engine/train/choose_precision.h"

#include <algorithm>
#include <optional>

#include "engine/core/number_text.h"
#include "engine/train/trainer.h"

namespace lockstep {

namespace {

constexpr double kFaster = 1.05;

double speedIn(ResolvedSpec resolved, Precision precision, const ModelInput& input, double seconds,
               const std::stop_token& stop) {
    resolved.spec.precision = text(precision);
    return benchmark({resolved, input, 1, 1, seconds, false, stop}).samplesPerSecond;
}

}  // namespace

std::vector<PrecisionSpeed> timePrecisions(const ResolvedSpec& resolved, const ModelInput& input, double seconds,
                                           const std::stop_token& stop) {
    std::vector<PrecisionSpeed> speeds;
    std::optional<ProblemError> tooLarge;
    for (const Precision each : {Precision::Fp32, Precision::Tf32, Precision::Bf16}) {
        if (!resolved.backend->offers(each)) continue;
        try {
            speeds.push_back({each, speedIn(resolved, each, input, seconds, stop)});
        } catch (const ProblemError& error) {
            if (error.problem().code == kBenchStopped) throw;
            tooLarge = error;
        }
    }
    if (speeds.empty() && tooLarge) throw ProblemError(*tooLarge);
    return speeds;
}

Precision fastestOf(const std::vector<PrecisionSpeed>& speeds) {
    const auto best = std::ranges::max_element(speeds, {}, &PrecisionSpeed::samplesPerSecond);
    return best->samplesPerSecond > kFaster * speeds.front().samplesPerSecond ? best->precision
                                                                              : speeds.front().precision;
}

std::optional<ChosenPrecision> choosePrecision(ResolvedSpec& resolved, const ModelInput& input, double seconds,
                                               const std::stop_token& stop) {
    if (!resolved.choosesPrecision()) return std::nullopt;
    std::string& precision = resolved.spec.precision;
    if (resolved.spec.reproducible()) {
        precision = text(Precision::Fp32);
        return ChosenPrecision{{}, {"precision", "run.precision-reproducible", {precision}}};
    }
    auto speeds = timePrecisions(resolved, input, seconds, stop);
    precision = text(fastestOf(speeds));
    Problem words{"precision", "run.precision-chosen", {precision, ratiosText(speeds)}};
    return ChosenPrecision{std::move(speeds), std::move(words)};
}

std::string ratiosText(const std::vector<PrecisionSpeed>& speeds) {
    std::string all;
    for (const PrecisionSpeed& each : speeds) {
        all += (all.empty() ? "" : ", ") + std::string(text(each.precision)) + " " +
               formatted("%.3g", each.samplesPerSecond / speeds.front().samplesPerSecond);
    }
    return all;
}

}  // namespace lockstep
