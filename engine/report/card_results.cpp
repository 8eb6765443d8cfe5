#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/core/number_text.h"
#include "engine/report/card_sections.h"
#include "engine/report/svg_chart.h"
#include "engine/spec/metric_text.h"
#include "engine/spec/perplexity.h"

// What the model does, and how often.

namespace lockstep::report {

namespace {

constexpr std::size_t kSortedFrom = 20, kMostClasses = 200, kListedPairs = 10, kManyPairs = 30, kOtherData = 3;
constexpr double kNearly = 0.02;

// Of evaluations, or following from one that is.
bool isOfEvaluations(const Metric& metric) {
    if (metric.evaluated) return true;
    const Metric* from = metric.derive ? findMetric(metric.from) : nullptr;
    return from && from->evaluated;
}

std::string standingText(const Standing& at) {
    return "epoch " + std::to_string(at.epoch) + ", update " + countText(at.step);
}

std::optional<Standing> standingAt(const CardFacts& facts, std::int64_t step) {
    const std::int64_t each = facts.started ? facts.started->stepsPerEpoch : 0;
    if (each > 0) return Standing{step, (step + each - 1) / each};
    const auto found = std::ranges::find(facts.counts, step, &EvalCounts::step);
    return Standing{step, found == facts.counts.end() ? facts.row.epoch : found->epoch};
}

Line missingEvaluation(const CardFacts& facts) {
    if (!isEnded(facts))
        return Line({{"It has not been evaluated yet: each epoch ends with an evaluation. "},
                     code(command(facts, "attach")),
                     {" follows it."}});
    if (hasLostModel(facts)) return "It was never evaluated: no epoch came to its end.";
    return Line({{"It was never evaluated: no epoch came to its end. "},
                 code(command(facts, "resume")),
                 {" goes on with it."}});
}

// Of each metric of evaluations its value at the best and at the last one.
Block metricsTable(const CardFacts& facts, const Standing& best, const Standing& last) {
    const bool isOne = best.step == last.step;
    TextTable table{{"", (isOne ? "Best and last: " : "Best: ") + standingText(best)}, {}, 1};
    if (!isOne) table.header.push_back("Last: " + standingText(last));
    for (const TrialSeries& series : facts.series) {
        const Metric& metric = *series.metric;
        const auto there = valueAt(series, best.step), now = valueAt(series, last.step);
        const bool isCounted = there && !(metric.unit == MetricUnit::Share && *there < 0);
        if (!isOfEvaluations(metric) || !isCounted) continue;
        std::vector<Line> row{std::string(metric.title), metricText(metric, *there)};
        if (!isOne) row.push_back(now ? metricText(metric, *now) : "–");
        table.rows.push_back(std::move(row));
    }
    return {table};
}

std::optional<DataFingerprint> trainedFingerprint(const CardFacts& facts) {
    return facts.data ? facts.data->fingerprint : std::nullopt;
}

// Behind the name of what it was asked about.
std::string sinceText(const CardFacts& facts, const Evaluation& evaluation) {
    return changedSince(evaluation, facts.evaluations) ? ", changed since" : "";
}

// Behind the number of its samples.
std::string leftOutText(const Evaluation& evaluation) {
    const std::int64_t files = evaluation.counts.leftOut;
    return files > 0 ? ", " + counted(files, "file", "files") + " left out" : "";
}

Block evaluationsTable(const CardFacts& facts) {
    const auto& [objective, training, epoch, quality, loss, aside] = metricsFor(facts.task, Split::Test);
    TextTable table{{"Evaluation", "Checkpoint", "Data", "Split", "Samples", "Loss",
                     capitalised(std::string(quality->name)), "Calibration error"},
                    {},
                    4};
    for (const Evaluation& each : facts.evaluations) {
        const double error = expectedCalibrationError(calibration(each.counts));
        table.rows.push_back({std::to_string(each.id), each.checkpoint + " (update " + countText(each.step) + ')',
                              dataText(each.dataset, each.data) + sinceText(facts, each), each.split,
                              countText(each.samples) + leftOutText(each), metricText(*loss, each.loss),
                              metricText(*quality, valueIn(resultOf(each), *quality)), percentText(error)});
    }
    return {table};
}

Blocks figures(const CardFacts& facts) {
    Blocks blocks{{Heading{"Results"}}};
    const auto best = bestEvaluation(facts), last = lastEvaluation(facts);
    if (best && last) {
        const std::string by(taskMetrics(facts).objective->title);
        blocks.push_back(metricsTable(facts, *best, *last));
        blocks.push_back(
            {Paragraph{"Figures of the trial's own evaluations. The best one is that of the " +
                       std::string(taskMetrics(facts).objective->better == Better::Higher ? "highest “" : "lowest “") +
                       by + "”."}});
    } else {
        blocks.push_back({Paragraph{missingEvaluation(facts)}});
    }
    if (!facts.evaluations.empty()) {
        blocks.push_back({Paragraph{"What was asked of its checkpoints afterwards:"}});
        blocks.push_back(evaluationsTable(facts));
    } else if (!facts.checkpoints.empty()) {
        blocks.push_back({Paragraph{Line({{"Nothing was asked of its checkpoints since; "},
                                          code(command(facts, "evaluate", "--data PATH")),
                                          {" tries it on other data."}})}});
    }
    return blocks;
}

struct ScoredClass {
    std::int64_t id = 0;
    ClassScore score;
};

// Worst first where they are many; classes without samples have nothing to be judged by.
std::vector<ScoredClass> ordered(const ConfusionMatrix& matrix) {
    std::vector<ScoredClass> all;
    for (const ClassScore& each : classScores(matrix)) all.push_back({std::ssize(all), each});
    if (all.size() <= kSortedFrom) return all;
    std::ranges::stable_sort(all, {},
                             [](const ScoredClass& each) { return each.score.samples == 0 ? 2 : each.score.f1; });
    return all;
}

Block classesTable(const CardFacts& facts, const ConfusionMatrix& matrix) {
    TextTable table{{"Class", "Samples", "Precision", "Recall", "F1"}, {}, 1};
    const auto add = [&](const std::string& name, const ClassScore& score) {
        table.rows.push_back({name, countText(score.samples), fixedText(score.precision, 3), fixedText(score.recall, 3),
                              fixedText(score.f1, 3)});
    };
    const auto all = ordered(matrix);
    for (std::size_t i = 0; i < std::min(all.size(), kMostClasses); ++i) add(className(facts, all[i].id), all[i].score);
    add("mean over classes", macroAverage(classScores(matrix)));
    return {table};
}

Block pairsTable(const CardFacts& facts, const ConfusionMatrix& matrix, std::size_t most) {
    TextTable table{{"Class", "Taken for", "Samples", "Of the class"}, {}, 2};
    const auto pairs = matrix.confusions();
    for (std::size_t i = 0; i < std::min(pairs.size(), most); ++i) {
        const auto& [label, answer, count] = pairs[i];
        const double share = static_cast<double>(count) / static_cast<double>(matrix.ofClass(label));
        table.rows.push_back({className(facts, label), className(facts, answer), countText(count), percentText(share)});
    }
    return {table};
}

Blocks confusions(const CardFacts& facts, const ConfusionMatrix& matrix, const std::string& suffix) {
    Blocks blocks;
    const bool isDrawn = matrix.classes() <= kMostDrawnClasses;
    if (isDrawn) {
        std::vector<std::string> names;
        for (std::int64_t id = 0; id < matrix.classes(); ++id) names.push_back(className(facts, id));
        blocks.push_back({Figure{"confusion" + suffix, "Confusion matrix",
                                 confusionSvg(matrix, names, "What samples of each class were taken for")}});
    }
    if (matrix.confusions().empty()) blocks.push_back({Paragraph{"No sample was taken for another class."}});
    else {
        blocks.push_back({Paragraph{"Most often confused:"}});
        blocks.push_back(pairsTable(facts, matrix, isDrawn ? kListedPairs : kManyPairs));
    }
    return blocks;
}

Blocks calibrated(const EvalCounts& counts, const std::string& suffix) {
    const auto bins = calibration(counts);
    const double error = expectedCalibrationError(bins);
    if (std::isnan(error)) return {};
    double samples = 0, sure = 0, right = 0;
    for (const CalibrationBin& bin : bins) {
        if (bin.samples == 0) continue;
        const auto weight = static_cast<double>(bin.samples);
        samples += weight, sure += weight * bin.confidence, right += weight * bin.accuracy;
    }
    const double surplus = (sure - right) / samples;
    const char* verdict = surplus > kNearly    ? "it is overconfident"
                          : surplus < -kNearly ? "it is less confident than it might be"
                                               : "on the whole its confidence can be believed";
    return {{Paragraph{"Its answers have a mean confidence of " + percentText(sure / samples) + ", and " +
                       percentText(right / samples) + " of them are right: " + verdict +
                       ". The expected calibration error is " + percentText(error) + '.'}},
            {Figure{"calibration" + suffix, "Confidence beside accuracy",
                    calibrationSvg(bins, "How sure, and how often right")}}};
}

Blocks ofClasses(const CardFacts& facts, const ClassCounts& source, const std::string& suffix) {
    const auto matrix = ConfusionMatrix::from(*source.counts);
    if (!matrix.ok()) return {};
    Blocks blocks{{Paragraph{"On " + source.told + '.'}}, classesTable(facts, matrix.value())};
    if (matrix.value().classes() > static_cast<std::int64_t>(kMostClasses)) {
        const std::string told =
            "The " + std::to_string(kMostClasses) + " worst of " + countText(matrix.value().classes()) + " classes";
        if (hasLostModel(facts)) blocks.push_back({Paragraph{told + '.'}});
        else
            blocks.push_back(
                {Paragraph{Line({{told + "; "}, code(command(facts, "evaluate", "--csv classes")), {" has all."}})}});
    }
    append(blocks, confusions(facts, matrix.value(), suffix));
    append(blocks, calibrated(*source.counts, suffix));
    return blocks;
}

std::string toldOf(const CardFacts& facts, const Evaluation& evaluation) {
    return counted(evaluation.samples, "sample", "samples") + leftOutText(evaluation) + " (" + evaluation.split +
           ") of " + dataText(evaluation.dataset, evaluation.data) + sinceText(facts, evaluation) + ", asked of the " +
           evaluation.checkpoint + " checkpoint after " + counted(evaluation.step, "update", "updates");
}

// The newest answers to each other question.
Blocks onOtherData(const CardFacts& facts) {
    Blocks blocks;
    std::vector<std::string> seen{ownData(facts) + "\ntest"};
    for (const Evaluation& each : facts.evaluations) {
        const bool others = askedOthers(each, trainedFingerprint(facts), facts.spec);
        const std::string question = each.data + '\n' + each.split + (others ? "\nothers" : "");
        if (each.counts.classes == 0 || seen.size() > kOtherData || std::ranges::find(seen, question) != seen.end())
            continue;
        const std::string suffix = '-' + std::to_string(each.id);
        seen.push_back(question);
        blocks.push_back({Folded{"The same on " + dataText(each.dataset, each.data) + " (" + each.split + ')' +
                                     (others ? ", whose samples are others than in training" : ""),
                                 ofClasses(facts, {&each.counts, toldOf(facts, each)}, suffix)}});
    }
    return blocks;
}

Blocks classesSection(const CardFacts& facts) {
    if (isLanguage(facts)) return {};
    Blocks blocks{{Heading{"Results per class"}}};
    if (const auto source = classCounts(facts)) append(blocks, ofClasses(facts, *source, ""));
    else if (facts.checkpoints.empty())
        blocks.push_back(
            {Paragraph{hasLostModel(facts) ? "Not counted while there was a model." : "Not counted yet."}});
    else blocks.push_back({Paragraph{Line({{"Not counted; "}, code(command(facts, "evaluate")), {" does."}})}});
    append(blocks, onOtherData(facts));
    return blocks;
}

Blocks writtenText(const CardFacts& facts) {
    if (!facts.text) return {};
    const std::string prompt = facts.text->prompt, text = facts.text->text;
    return {{Heading{"What it writes"}},
            {Paragraph{"After epoch " + std::to_string(facts.text->epoch) + ", going on from “" + prompt + "”:"}},
            {CodeBlock{prompt + text, "text"}}};
}

}  // namespace

const TaskMetrics& taskMetrics(const CardFacts& facts) {
    return metricsFor(facts.task, facts.started ? facts.started->chooses() : facts.row.chooses());
}

const TrialSeries* findSeries(const CardFacts& facts, std::string_view key) {
    const auto found = std::ranges::find(facts.series, key, &TrialSeries::key);
    return found == facts.series.end() || found->points.empty() ? nullptr : &*found;
}

std::optional<double> valueAt(const TrialSeries& series, std::int64_t step) {
    const auto found = std::ranges::lower_bound(series.points, step, {}, &SeriesPoint::step);
    if (found == series.points.end() || found->step != step) return std::nullopt;
    return found->value;
}

std::optional<Standing> bestEvaluation(const CardFacts& facts) {
    const Metric& objective = *taskMetrics(facts).objective;
    const TrialSeries* series = findSeries(facts, objective.key);
    if (!series) return std::nullopt;
    const SeriesPoint* best = &series->points.front();
    for (const SeriesPoint& each : series->points) {
        if (!std::isfinite(best->value) || isBetter(objective, each.value, best->value)) best = &each;
    }
    return standingAt(facts, best->step);
}

std::optional<Standing> lastEvaluation(const CardFacts& facts) {
    const TrialSeries* series = findSeries(facts, taskMetrics(facts).objective->key);
    return series ? standingAt(facts, series->points.back().step) : std::nullopt;
}

std::optional<ClassCounts> classCounts(const CardFacts& facts) {
    const auto best = bestEvaluation(facts);
    const auto hasItsWeights = [&](const CardCheckpoint& each) { return each.step == best->step; };
    const bool isKept = best && std::ranges::any_of(facts.checkpoints, hasItsWeights);
    const auto at = [&](Split split) -> std::optional<ClassCounts> {
        for (const EvalCounts& each : facts.counts) {
            if (best && each.step == best->step && each.classes > 0 && each.split == split)
                return ClassCounts{
                    &each,
                    "the " + std::string(text(split)) + " data of " + dataText(facts.spec.dataset.id, ownData(facts)) +
                        ", at the best evaluation (" + standingText(*best) + ')' +
                        (isKept || facts.checkpoints.empty()
                             ? ""
                             : ", whose weights are not kept: the model is that of " + facts.checkpoints.front().file)};
        }
        return std::nullopt;
    };
    if (const auto tested = at(Split::Test)) return tested;
    if (const auto validated = at(Split::Validation)) return validated;
    for (const Evaluation& each : facts.evaluations) {
        if (each.counts.classes > 0 && each.split == "test" && each.data == ownData(facts))
            return ClassCounts{&each.counts, toldOf(facts, each)};
    }
    return std::nullopt;
}

std::string changedText(const CardFacts& facts) {
    const auto trained = trainedFingerprint(facts);
    const Evaluation* since = changedSinceTraining(trained, facts.spec, facts.evaluations);
    if (!since) return {};
    std::string splits;
    for (const std::string& each : changedSplits(*trained, *since->fingerprint))
        splits += (splits.empty() ? "" : " and ") + each;
    return "evaluation " + std::to_string(since->id) + " was asked about other " + splits + " samples";
}

Blocks resultsSection(const CardFacts& facts) {
    Blocks blocks = figures(facts);
    append(blocks, writtenText(facts));
    append(blocks, classesSection(facts));
    return blocks;
}

}  // namespace lockstep::report
