#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/report/sweep_report.h"
#include "engine/search/fanova.h"
#include "engine/search/ped_anova.h"

namespace lockstep::report {

enum class Outcome {
    Finished,
    CutShort,  // before its last epoch, by its scheduler or a person, or it is still under way
    Diverged,
    Failed,
    None,  // nothing is known of it yet
};
struct CellOutcome {
    Outcome outcome = Outcome::None;
    std::optional<double> value = {};  // of those that finished the mean; of others that of the best so far
};
CellOutcome outcomeOf(const ReportedCell& cell);

// The stretch of the objective that is worth looking at, from its worst to its best. What lies far behind half of all
// is not: it stands at the edge.
struct ObjectiveRange {
    double low = 0, high = 1;
    bool isHigherBetter = true;
    bool isClipped = false;               // there is something beyond its worse end
    double goodness(double value) const;  // 0 worst, 1 best
    double clipped(double value) const;
};
// "What is worse than 54.73 % stands at the edge." Of a range that is clipped.
std::string edgeWords(const ObjectiveRange& range, const Metric& metric);
std::optional<ObjectiveRange> objectiveRange(std::vector<double> values, const Metric& metric);

// What several sections ask.
struct SweepAnswers {
    Fanova explains = {};
    PedAnova decides = {};
    std::vector<std::size_t> settings = {};    // of the sweep's dimensions, the most important first
    std::optional<ObjectiveRange> range = {};  // of all cells with a value; empty: there is none
};
bool isKnown(const SweepAnswers& answers);  // that order, by one of the two questions
SweepAnswers answersOf(const SweepFacts& facts);
constexpr double kBestShare = 0.1;  // that PED-ANOVA asks about

// The sections, each with its heading; empty: it has none.
Blocks sweepHead(const SweepFacts& facts);
Blocks sweepBest(const SweepFacts& facts);
Blocks sweepProgress(const SweepFacts& facts);
Blocks sweepParallel(const SweepFacts& facts, const SweepAnswers& answers);
Blocks sweepImportance(const SweepFacts& facts, const SweepAnswers& answers);
Blocks sweepHeatMap(const SweepFacts& facts, const SweepAnswers& answers);
Blocks sweepCurves(const SweepFacts& facts);
Blocks sweepRungs(const SweepFacts& facts);
Blocks sweepCells(const SweepFacts& facts);
Blocks sweepFailures(const SweepFacts& facts);
Blocks sweepEnvironment(const SweepFacts& facts);
Blocks sweepRepeat(const SweepFacts& facts);

// Texts of the objective. Axes tell shares in percent.
double onAxis(const Metric& metric, double value);
ChartScale objectiveScale(const Metric& metric, double low, double high);  // with some room at both ends
std::string objectiveName(const Metric& metric);                           // "validation accuracy"
std::string axisTitle(const Metric& metric);                               // "Validation accuracy (%)"
std::string deviationText(const Metric& metric, double deviation);         // "0.41"; "–" of one trial
std::string resultText(const ReportedCell& cell, const Metric& metric);    // "91.23 % ± 0.41 (n 3)"
std::string settingName(const SweepSpec& spec, std::size_t setting);  // as short as it is the only one of that name

}  // namespace lockstep::report
