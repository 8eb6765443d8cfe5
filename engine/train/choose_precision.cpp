#include "engine/train/choose_precision.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/core/number_text.h"
#include "engine/train/trainer.h"

namespace lockstep {

namespace {

constexpr double kFaster = 1.05;
constexpr auto kSpeed = &PrecisionSpeed::samplesPerSecond;

double speedIn(ResolvedSpec resolved, Precision precision, const ModelInput& input, const PrecisionTiming& timing) {
    if (timing.begins) timing.begins(precision);
    resolved.spec.precision = text(precision);
    return benchmark({resolved, input, 1, 1, timing.seconds, timing.inference, timing.stop}).samplesPerSecond;
}

}  // namespace

std::vector<PrecisionSpeed> timePrecisions(const ResolvedSpec& resolved, const ModelInput& input,
                                           const PrecisionTiming& timing) {
    std::vector<PrecisionSpeed> speeds;
    std::optional<ProblemError> tooLarge;
    for (const Precision each : {Precision::Fp32, Precision::Tf32, Precision::Bf16}) {
        if (!resolved.backend->offers(each)) continue;
        try {
            speeds.push_back({each, speedIn(resolved, each, input, timing)});
        } catch (const ProblemError& error) {
            if (error.problem().code == kBenchStopped) throw;
            tooLarge = error;
        }
    }
    if (speeds.empty() && tooLarge) throw ProblemError(*tooLarge);
    settleCloseOnes(speeds, [&](Precision each) { return speedIn(resolved, each, input, timing); });
    return speeds;
}

void settleCloseOnes(std::vector<PrecisionSpeed>& speeds, const std::function<double(Precision)>& speedIn) {
    constexpr double kClose = 0.06;
    constexpr int kTimes = 2;
    if (speeds.size() < 2) return;
    PrecisionSpeed& fp32 = speeds.front();
    PrecisionSpeed& other = *std::ranges::max_element(speeds.begin() + 1, speeds.end(), {}, kSpeed);
    const double ratio = other.samplesPerSecond / fp32.samplesPerSecond;
    if (std::abs(ratio - kFaster) > kClose) return;
    for (int time = 0; time < kTimes; ++time) {
        for (PrecisionSpeed* each : {&fp32, &other})
            each->samplesPerSecond = std::max(each->samplesPerSecond, speedIn(each->precision));
    }
}

Precision fastestOf(const std::vector<PrecisionSpeed>& speeds) {
    const auto best = std::ranges::max_element(speeds, {}, kSpeed);
    return best->samplesPerSecond > kFaster * speeds.front().samplesPerSecond ? best->precision
                                                                              : speeds.front().precision;
}

std::optional<ChosenPrecision> choosePrecision(ResolvedSpec& resolved, const ModelInput& input,
                                               const PrecisionTiming& timing) {
    if (!resolved.choosesPrecision()) return std::nullopt;
    std::string& precision = resolved.spec.precision;
    if (resolved.spec.reproducible()) {
        precision = text(Precision::Fp32);
        return ChosenPrecision{{}, {"precision", "run.precision-reproducible", {precision}}};
    }
    auto speeds = timePrecisions(resolved, input, timing);
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
