#include <algorithm>
#include <cmath>

#include "engine/core/number_text.h"
#include "engine/report/card_sections.h"

// What follows from the facts against the model.

namespace lockstep::report {

namespace {

constexpr std::int64_t kFewSamples = 50;
constexpr double kPoorRecall = 0.5, kLargeGap = 0.05, kLargeError = 0.05;
constexpr std::size_t kNamed = 5;

std::string someNames(const CardFacts& facts, const std::vector<std::int64_t>& classes) {
    std::string out;
    for (std::size_t i = 0; i < std::min(classes.size(), kNamed); ++i)
        out += (i > 0 ? ", “" : "“") + className(facts, classes[i]) + "”";
    if (classes.size() > kNamed)
        out += " and " + countText(std::ssize(classes) - static_cast<std::int64_t>(kNamed)) + " more";
    return out;
}

// Where the true share lies with 95 %: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical
// Inference", JASA 22 (1927).
std::pair<double, double> wilson(double share, double samples) {
    constexpr double kZ = 1.959964;
    const double z2 = kZ * kZ / samples, middle = (share + z2 / 2) / (1 + z2);
    const double reach = kZ / (1 + z2) * std::sqrt(share * (1 - share) / samples + z2 / (4 * samples));
    return {middle - reach, middle + reach};
}

void addState(std::vector<Line>& out, const CardFacts& facts) {
    const TrialRow& row = facts.row;
    if (row.state == "finished") return;
    const std::string where = "after " + counted(row.step, "update", "updates") + ", in epoch " +
                              std::to_string(row.epoch) + " of " + std::to_string(row.epochs);
    if (!isEnded(facts)) return out.emplace_back("Its training is under way; these are no final figures."), void();
    if (hasLostModel(facts)) return out.emplace_back("Its training broke off " + where + '.'), void();
    out.push_back(Line({{"Its training broke off " + where + "; "}, code(command(facts, "resume")), {" goes on."}}));
}

void addSamples(std::vector<Line>& out, const CardFacts& facts) {
    if (!facts.started) return;
    out.emplace_back("It has seen " + counted(facts.started->trainSamples, "training sample", "training samples") +
                     (isLanguage(facts) ? "" : ", and gives one of its classes as the answer to whatever it is shown") +
                     '.');
}

void addHeldOut(std::vector<Line>& out, const CardFacts& facts) {
    if (!bestEvaluation(facts) || taskMetrics(facts).objective->split == Split::Validation) return;
    const auto isOther = [&](const Evaluation& each) { return each.data != ownData(facts); };
    if (std::ranges::any_of(facts.evaluations, isOther)) return;
    const std::string told =
        "No data was held out: the test data also chose the best checkpoint, so its figures are a little too good.";
    if (hasLostModel(facts)) return out.emplace_back(told), void();
    out.push_back(
        Line({{told + ' '}, code(command(facts, "evaluate", "--data PATH")), {" asks about data that had no say."}}));
}

void addChanged(std::vector<Line>& out, const CardFacts& facts) {
    const std::string changed = changedText(facts);
    if (changed.empty()) return;
    out.emplace_back("Its data have changed since the training: " + changed +
                     ". The figures of the training stand for the data as they were.");
}

void addUncertainty(std::vector<Line>& out, const CardFacts& facts) {
    const auto best = bestEvaluation(facts);
    const TrialSeries* accuracy = findSeries(facts, "test_accuracy");
    const auto share = best && accuracy ? valueAt(*accuracy, best->step) : std::nullopt;
    if (isLanguage(facts) || !share || !facts.started || facts.started->testSamples < 1) return;
    const auto [low, high] = wilson(*share, static_cast<double>(facts.started->testSamples));
    out.emplace_back("Its accuracy is known from " + counted(facts.started->testSamples, "sample", "samples") +
                     ": with 95 % it lies between " + percentText(low) + " and " + percentText(high) +
                     " for samples of the same kind.");
}

void addGap(std::vector<Line>& out, const CardFacts& facts) {
    const auto last = lastEvaluation(facts);
    const TrialSeries* others = findSeries(facts, taskMetrics(facts).quality->key);
    const TrialSeries* train = findSeries(facts, "train_accuracy");
    if (isLanguage(facts) || !last || !others || !train) return;
    const auto there = valueAt(*others, last->step), here = valueAt(*train, last->step);
    if (!there || !here || !(*here - *there > kLargeGap)) return;
    out.emplace_back("It knows its training data better than others: " + percentText(*here) + " beside " +
                     percentText(*there) + " at the end.");
}

void addClasses(std::vector<Line>& out, const CardFacts& facts) {
    const auto source = classCounts(facts);
    if (!source) return;
    const auto matrix = ConfusionMatrix::from(*source->counts);
    if (!matrix.ok()) return;
    std::vector<std::int64_t> few, none, poor;
    std::int64_t id = 0;
    for (const ClassScore& each : classScores(matrix.value())) {
        if (each.samples == 0) none.push_back(id);
        else if (each.samples < kFewSamples) few.push_back(id);
        if (each.samples > 0 && each.recall < kPoorRecall) poor.push_back(id);
        ++id;
    }
    if (!none.empty())
        out.emplace_back("Nobody knows how it does on " + someNames(facts, none) + ": there was no sample to try.");
    if (!few.empty())
        out.emplace_back("With fewer than " + std::to_string(kFewSamples) + " samples each, the figures of " +
                         someNames(facts, few) + " are rough.");
    if (!poor.empty()) out.emplace_back("It misses more than half of " + someNames(facts, poor) + '.');
    const double error = expectedCalibrationError(calibration(*source->counts));
    if (error > kLargeError)
        out.emplace_back("Its probabilities should not be taken at their word: they are off by " + percentText(error) +
                         " on average.");
}

void addRest(std::vector<Line>& out, const CardFacts& facts) {
    const auto isWarning = [](const CardMessage& each) { return each.level == "warning"; };
    const auto warnings = std::ranges::count_if(facts.messages, isWarning);
    if (warnings > 0)
        out.emplace_back("The run gave " + counted(warnings, "warning", "warnings") +
                         ", which the section on its data lists.");
    if (facts.started && facts.started->virtualDevices)
        out.emplace_back("Its devices shared cores or cards: its times say little about speed.");
    out.emplace_back("One run with one seed: another seed gives other figures.");
}

}  // namespace

Blocks limitsSection(const CardFacts& facts) {
    BulletList list;
    for (auto* add :
         {&addState, &addSamples, &addChanged, &addHeldOut, &addUncertainty, &addGap, &addClasses, &addRest})
        add(list.lines, facts);
    return {{Heading{"Limits"}}, {list}};
}

}  // namespace lockstep::report
