#include "engine/train/choose_precision.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/core/number_text.h"

namespace lockstep {

namespace {

constexpr double kFaster = 1.05;
constexpr int kRounds = 3, kMostRounds = 5;
constexpr double kLongStep = 1.5;  // seconds
constexpr auto kSpeed = &PrecisionSpeed::samplesPerSecond;

BenchResult timed(ResolvedSpec resolved, Precision precision, const ModelInput& input, const PrecisionTiming& timing) {
    if (timing.begins) timing.begins(precision);
    resolved.spec.precision = text(precision);
    return benchmark({resolved, input, 1, 1, timing.seconds / kRounds, timing.inference, timing.stop});
}

class Turns {
public:
    Turns(const std::vector<Precision>& precisions, const std::function<BenchResult(Precision)>& time) : m_time(time) {
        std::optional<ProblemError> tooLarge;
        for (const Precision each : precisions) {
            try {
                m_times.push_back({each, {}});
                add(m_times.back());
            } catch (const ProblemError& error) {
                if (error.problem().code == kBenchStopped) throw;
                tooLarge = error;
                m_times.pop_back();
            }
        }
        if (m_times.empty() && tooLarge) throw ProblemError(*tooLarge);
    }

    std::vector<PrecisionSpeed> speeds() const {
        std::vector<PrecisionSpeed> medians;
        for (const auto& [precision, speeds] : m_times) {
            std::vector<double> sorted = speeds;
            std::ranges::sort(sorted);
            medians.push_back({precision, sorted[sorted.size() / 2]});
        }
        std::ranges::sort(medians, {}, &PrecisionSpeed::precision);
        return medians;
    }

    void upTo(std::size_t rounds) {
        while (m_times.front().speeds.size() < rounds) round();
    }

    // A step takes so long that it is steady by itself.
    bool isLong() const { return m_isLong; }

    // The fastest is about as fast as it must be to be taken.
    bool isClose() const {
        constexpr double kClose = 0.06;
        const auto medians = speeds();
        if (medians.size() < 2) return false;
        const auto other = std::ranges::max_element(medians.begin() + 1, medians.end(), {}, kSpeed);
        return std::abs(other->samplesPerSecond / medians.front().samplesPerSecond - kFaster) <= kClose;
    }

    bool isUnsteady() const {
        constexpr double kSteady = 1.15;
        return std::ranges::any_of(m_times, [](const Times& each) {
            const auto [least, most] = std::ranges::minmax(each.speeds);
            return most > kSteady * least;
        });
    }

private:
    struct Times {
        Precision precision;
        std::vector<double> speeds;
    };

    // Every second one the other way round: what changes steadily meanwhile meets all alike, too.
    void round() {
        std::ranges::reverse(m_times);
        for (Times& each : m_times) add(each);
    }

    void add(Times& times) {
        const BenchResult result = m_time(times.precision);
        times.speeds.push_back(result.samplesPerSecond);
        m_isLong = m_isLong || (result.steps == 1 && result.seconds > kLongStep);
    }

    const std::function<BenchResult(Precision)>& m_time;
    std::vector<Times> m_times;
    bool m_isLong = false;
};

}  // namespace

std::vector<PrecisionSpeed> timeInTurns(const std::vector<Precision>& precisions,
                                        const std::function<BenchResult(Precision)>& time) {
    Turns turns(precisions, time);
    if (!turns.isLong() || turns.isClose()) turns.upTo(kRounds);
    if (!turns.isLong() && (turns.isClose() || turns.isUnsteady())) turns.upTo(kMostRounds);
    return turns.speeds();
}

std::vector<PrecisionSpeed> timePrecisions(const ResolvedSpec& resolved, const ModelInput& input,
                                           const PrecisionTiming& timing) {
    std::vector<Precision> offered;
    for (const Precision each : {Precision::Fp32, Precision::Tf32, Precision::Bf16})
        if (resolved.backend->offers(each)) offered.push_back(each);
    return timeInTurns(offered, [&](Precision each) { return timed(resolved, each, input, timing); });
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
    if (resolved.spec.reproducible() && !timing.inference) {
        precision = text(Precision::Fp32);
        return ChosenPrecision{{}, {"precision", "run.precision-reproducible", {precision}}};
    }
    auto speeds = timePrecisions(resolved, input, timing);
    precision = text(fastestOf(speeds));
    resolved.isPrecisionMeasured = true;
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
