#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include "engine/core/number_text.h"
#include "engine/report/sweep_sections.h"
#include "engine/spec/metric_text.h"

// What is worked out of a sweep's facts before anything is written.

namespace lockstep::report {

namespace {

constexpr std::size_t kFewestClipped = 8;
constexpr int kObjectiveTicks = 8;
constexpr double kRoom = 0.05;    // of an axis, at either end
constexpr double kFarBehind = 2;  // times as far behind the better half's worst as that is behind the best

std::vector<std::size_t> byWeight(const std::vector<double>& weights) {
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return weights[i]; });
    return order;
}

// By the first question that has an answer; else as the space has them.
std::vector<std::size_t> settingsByImportance(const Fanova& explains, const PedAnova& decides, std::size_t count) {
    if (explains.verdict == ImportanceVerdict::Sound) {
        std::vector<double> shares;
        for (const auto& each : explains.shares) shares.push_back(each ? each->mean : 0);
        return byWeight(shares);
    }
    if (decides.verdict == ImportanceVerdict::Sound) return byWeight(decides.importances);
    return byWeight(std::vector<double>(count, 0.0));
}

std::optional<double> meanValue(const std::vector<ReportedTrial>& trials) {
    double sum = 0, count = 0;
    for (const ReportedTrial& each : trials) {
        if (each.value && !each.hasFailed()) sum += *each.value, ++count;
    }
    return count > 0 ? std::optional(sum / count) : std::nullopt;
}

std::string lastPart(const std::string& path) { return path.substr(path.rfind('.') + 1); }

}  // namespace

CellOutcome outcomeOf(const ReportedCell& cell) {
    if (cell.count > 0) return {Outcome::Finished, cell.mean};
    if (const auto value = meanValue(cell.trials)) return {Outcome::CutShort, value};
    if (std::ranges::any_of(cell.trials, &ReportedTrial::hasDiverged)) return {Outcome::Diverged};
    if (std::ranges::any_of(cell.trials, &ReportedTrial::hasFailed)) return {Outcome::Failed};
    return {};
}

double ObjectiveRange::clipped(double value) const {
    if (!isClipped) return value;
    return isHigherBetter ? std::max(value, low) : std::min(value, high);
}

double ObjectiveRange::goodness(double value) const {
    if (!(high > low)) return 1;
    const double share = std::clamp((value - low) / (high - low), 0.0, 1.0);
    return isHigherBetter ? share : 1 - share;
}

std::string edgeWords(const ObjectiveRange& range, const Metric& metric) {
    return "What is worse than " + metricText(metric, range.isHigherBetter ? range.low : range.high) +
           " stands at the edge.";
}

std::optional<ObjectiveRange> objectiveRange(std::vector<double> values, const Metric& metric) {
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    if (values.empty()) return std::nullopt;
    const bool isHigherBetter = metric.better != Better::Lower;
    std::ranges::sort(values);
    if (isHigherBetter) std::ranges::reverse(values);
    const double best = values.front(), median = values[(values.size() - 1) / 2];
    double worst = values.back();
    const double edge = median + kFarBehind * (median - best);
    const bool isClipped =
        values.size() >= kFewestClipped && best != median && std::abs(worst - best) > 2 * std::abs(edge - best);
    if (isClipped) worst = edge;
    return ObjectiveRange{std::min(worst, best), std::max(worst, best), isHigherBetter, isClipped};
}

SweepAnswers answersOf(const SweepFacts& facts) {
    SweepAnswers answers{.explains = fanova(facts.spec.vary, facts.tried),
                         .decides = pedAnova(facts.spec.vary, facts.tried, {.target = kBestShare})};
    answers.settings = settingsByImportance(answers.explains, answers.decides, facts.spec.vary.size());
    if (!facts.objective) return answers;
    std::vector<double> values;
    for (const ReportedCell& each : facts.cells) {
        if (const auto value = outcomeOf(each).value) values.push_back(*value);
    }
    answers.range = objectiveRange(std::move(values), *facts.objective);
    return answers;
}

bool isKnown(const SweepAnswers& answers) {
    return answers.explains.verdict == ImportanceVerdict::Sound || answers.decides.verdict == ImportanceVerdict::Sound;
}

double onAxis(const Metric& metric, double value) { return metric.unit == MetricUnit::Share ? 100 * value : value; }

ChartScale objectiveScale(const Metric& metric, double low, double high) {
    const double from = onAxis(metric, low), to = onAxis(metric, high), room = kRoom * (to - from);
    return linearScale(from - room, to + room, kObjectiveTicks, false);
}

std::string objectiveName(const Metric& metric) {
    std::string words(metric.title);
    words[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
    return words;
}

std::string axisTitle(const Metric& metric) {
    return std::string(metric.title) + (metric.unit == MetricUnit::Share ? " (%)" : "");
}

std::string deviationText(const Metric& metric, double deviation) {
    return fixedText(onAxis(metric, deviation), metric.unit == MetricUnit::Share ? 2 : 4);
}

std::string resultText(const ReportedCell& cell, const Metric& metric) {
    if (cell.count == 0) return "–";
    if (cell.count == 1) return metricText(metric, cell.mean);
    return metricText(metric, cell.mean) + " ± " + deviationText(metric, cell.deviation) + " (n " +
           std::to_string(cell.count) + ')';
}

std::string settingName(const SweepSpec& spec, std::size_t setting) {
    const std::string& path = spec.vary[setting].path;
    const auto same =
        std::ranges::count_if(spec.vary, [&](const Dimension& each) { return lastPart(each.path) == lastPart(path); });
    return same > 1 ? path : lastPart(path);
}

}  // namespace lockstep::report
