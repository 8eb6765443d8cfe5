#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/report/model_card.h"

namespace lockstep::report {

// The sections of a card, each with its heading; empty: it has none.
Blocks resultsSection(const CardFacts& facts);  // figures, classes, confusions, calibration
Blocks curvesSection(const CardFacts& facts);
Blocks dataSection(const CardFacts& facts);
Blocks settingsSection(const CardFacts& facts);
Blocks environmentSection(const CardFacts& facts);
Blocks repeatSection(const CardFacts& facts);
Blocks useSection(const CardFacts& facts);
Blocks limitsSection(const CardFacts& facts);

std::string capitalised(std::string name);  // a metric's, as a title
bool isLanguage(const CardFacts& facts);
bool isEnded(const CardFacts& facts);       // in one way or another
bool hasLostModel(const CardFacts& facts);  // its checkpoints are gone, so that it cannot be resumed, either
std::string command(const CardFacts& facts, std::string_view name, std::string_view rest = {});  // "lockstep show 3 …"
std::string ownData(const CardFacts& facts);                                                     // as Evaluation::data
// "evaluation 5 was asked about other test samples"; empty: the data are what they were in training, as far as anybody
// knows.
std::string changedText(const CardFacts& facts);

// By whom the best evaluation is chosen, and where the trial had it.
const TaskMetrics& taskMetrics(const CardFacts& facts);
const TrialSeries* findSeries(const CardFacts& facts, std::string_view key);
struct Standing {
    std::int64_t step = 0, epoch = 0;
};
std::optional<Standing> bestEvaluation(const CardFacts& facts);
std::optional<Standing> lastEvaluation(const CardFacts& facts);
std::optional<double> valueAt(const TrialSeries& series, std::int64_t step);

// What samples were taken for: of the trial's best evaluation, else of what was asked last of its own data.
struct ClassCounts {
    const EvalCounts* counts = nullptr;
    std::string told;  // "the test data of …, after epoch 2"
};
std::optional<ClassCounts> classCounts(const CardFacts& facts);
std::string className(const CardFacts& facts, std::int64_t id);

}  // namespace lockstep::report
