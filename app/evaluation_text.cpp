#include "app/evaluation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/csv_row.h"
#include "app/format.h"
#include "engine/spec/metrics.h"

namespace lockstep {

namespace {

constexpr std::size_t kListedConfusions = 10, kListedClasses = 40, kListedMistakes = 20;

bool isLanguage(const EvaluationText& text) { return text.model.task == ModelTask::NextTokens; }

std::vector<const Metric*> metricsOf(const EvaluationText& asked) {
    return metricsOf(asked.evaluation, text(asked.model.task));
}

// More of them than elsewhere: whoever evaluates compares.
std::string digitsText(const Metric& metric, double value) {
    if (metric.unit == MetricUnit::Share) return percentText(value);
    return fixedText(value, metric.unit == MetricUnit::Nats ? 6 : 4);
}

std::string nameOfClass(const EvaluationText& text, std::int64_t id) {
    const auto at = static_cast<std::size_t>(id);
    return id >= 0 && at < text.classes.size() ? text.classes[at] : std::string();
}

std::string fileOf(const EvaluationText& text, std::int64_t sample) {
    return text.data ? text.data->fileOf(sample) : std::string();
}

std::string headText(const Evaluation& now) {
    const double rate = now.seconds > 0 ? static_cast<double>(now.samples) / now.seconds : 0;
    return fmt::format("{}{} checkpoint after {}, epoch {}\n{} ({}) of {} on {} in {}: {}, {}{}\n\n",
                       now.trial > 0 ? fmt::format("Trial {}, ", now.trial) : "", printable(now.checkpoint),
                       plural(now.step, "update"), now.epoch, samplesText(now.samples), now.split,
                       printable(dataText(now.dataset, now.data)), printable(now.devices), now.precision,
                       durationText(now.seconds), rateText(rate), leftOutText(now));
}

std::string metricsText(const EvaluationText& text) {
    const Evaluation& now = text.evaluation;
    Table table({"METRIC", "VALUE"});
    for (const Metric* each : metricsOf(text))
        table.add({std::string(each->name), digitsText(*each, valueIn(resultOf(now), *each))});
    const double error = expectedCalibrationError(calibration(now.counts));
    if (!std::isnan(error)) table.add({"calibration error (ECE)", percentText(error)});
    return table.text();
}

std::string scoresText(const EvaluationText& text, const ConfusionMatrix& matrix) {
    const auto scores = classScores(matrix);
    Table table({"CLASS", "SAMPLES", "PRECISION", "RECALL", "F1"});
    const auto add = [&](const std::string& name, const ClassScore& score) {
        table.add({name, countText(score.samples), fixedText(score.precision, 3), fixedText(score.recall, 3),
                   fixedText(score.f1, 3)});
    };
    for (std::size_t i = 0; i < std::min(scores.size(), kListedClasses); ++i)
        add(nameOfClass(text, static_cast<std::int64_t>(i)), scores[i]);
    if (scores.size() > kListedClasses)
        table.add(
            {fmt::format("… and {} more: --csv classes has all", scores.size() - kListedClasses), "", "", "", ""});
    add("mean over classes", macroAverage(scores));
    return '\n' + table.text();
}

std::string confusionsText(const EvaluationText& text, const ConfusionMatrix& matrix) {
    const auto cells = matrix.confusions();
    if (cells.empty()) return "\nNo sample was taken for another class.\n";
    Table table({"MOST OFTEN CONFUSED", "TAKEN FOR", "SAMPLES", "OF THE CLASS"});
    for (std::size_t i = 0; i < std::min(cells.size(), kListedConfusions); ++i) {
        const auto& [label, answer, count] = cells[i];
        const double share = static_cast<double>(count) / static_cast<double>(matrix.ofClass(label));
        table.add({nameOfClass(text, label), nameOfClass(text, answer), countText(count), percentText(share)});
    }
    return '\n' + table.text();
}

Json numberJson(double number) { return std::isfinite(number) ? Json(number) : Json(); }

Json scoresJson(const EvaluationText& text, const ConfusionMatrix& matrix) {
    Json out = Json::array();
    std::int64_t id = 0;
    for (const ClassScore& each : classScores(matrix)) {
        out.push_back({{"class", nameOfClass(text, id++)},
                       {"samples", each.samples},
                       {"precision", numberJson(each.precision)},
                       {"recall", numberJson(each.recall)},
                       {"f1", numberJson(each.f1)}});
    }
    return out;
}

Json matrixJson(const ConfusionMatrix& matrix) {
    Json rows = Json::array();
    for (std::int64_t label = 0; label < matrix.classes(); ++label) {
        Json row = Json::array();
        for (std::int64_t answer = 0; answer < matrix.classes(); ++answer) row.push_back(matrix.at(label, answer));
        rows.push_back(std::move(row));
    }
    return rows;
}

void addCountsJson(Json& json, const EvaluationText& text) {
    const auto matrix = ConfusionMatrix::from(text.evaluation.counts);
    if (!matrix.ok()) return;
    const auto bins = calibration(text.evaluation.counts);
    json["calibration_error"] = numberJson(expectedCalibrationError(bins));
    json["classes"] = scoresJson(text, matrix.value());
    const ClassScore mean = macroAverage(classScores(matrix.value()));
    json["mean_over_classes"] = {
        {"precision", numberJson(mean.precision)}, {"recall", numberJson(mean.recall)}, {"f1", numberJson(mean.f1)}};
    json["confusion"] = matrixJson(matrix.value());
    json["calibration"] = Json::array();
    for (const CalibrationBin& bin : bins)
        json["calibration"].push_back({{"samples", bin.samples},
                                       {"confidence", numberJson(bin.confidence)},
                                       {"accuracy", numberJson(bin.accuracy)}});
}

// Those of which the model was the surest.
Json mistakesJson(const EvaluationText& text) {
    const auto& answers = text.evaluation.answers;
    const auto answerTo = [&](std::int64_t sample) { return answers[static_cast<std::size_t>(sample)].answer; };
    std::vector<std::int64_t> wrong;
    for (std::int64_t i = 0; i < std::ssize(answers); ++i) {
        const std::int32_t answer = answerTo(i).classes[0];
        if (answer >= 0 && answer != answers[static_cast<std::size_t>(i)].label) wrong.push_back(i);
    }
    std::ranges::stable_sort(wrong, std::ranges::greater(),
                             [&](std::int64_t i) { return answerTo(i).probabilities[0]; });
    wrong.resize(std::min(wrong.size(), kListedMistakes));
    Json out = Json::array();
    for (const std::int64_t each : wrong) {
        const std::string file = fileOf(text, each);
        out.push_back({{"sample", each},
                       {"file", file.empty() ? Json() : Json(file)},
                       {"class", nameOfClass(text, answers[static_cast<std::size_t>(each)].label)},
                       {"answer", nameOfClass(text, answerTo(each).classes[0])},
                       {"probability", answerTo(each).probabilities[0]}});
    }
    return out;
}

std::string csvNumber(double number) { return std::isfinite(number) ? fmt::format("{}", number) : std::string(); }

std::string classesCsv(const EvaluationText& text, const ConfusionMatrix& matrix) {
    std::string csv = csvRow({"class", "samples", "precision", "recall", "f1"});
    std::int64_t id = 0;
    for (const ClassScore& each : classScores(matrix))
        csv += csvRow({nameOfClass(text, id++), std::to_string(each.samples), csvNumber(each.precision),
                       csvNumber(each.recall), csvNumber(each.f1)});
    return csv;
}

// A row per true class, a column per answer.
std::string confusionCsv(const EvaluationText& text, const ConfusionMatrix& matrix) {
    std::vector<std::string> header{"class"};
    header.insert(header.end(), text.classes.begin(), text.classes.end());
    std::string csv = csvRow(header);
    for (std::int64_t label = 0; label < matrix.classes(); ++label) {
        std::vector<std::string> row{nameOfClass(text, label)};
        for (std::int64_t answer = 0; answer < matrix.classes(); ++answer)
            row.push_back(std::to_string(matrix.at(label, answer)));
        csv += csvRow(row);
    }
    return csv;
}

Problem noTable(const ModelEntry& model, const std::string& table) {
    const bool isLanguage = model.task == ModelTask::NextTokens;
    return {"--csv", isLanguage ? "evaluate.no-classes" : "evaluate.many-classes", {model.name, table}};
}

std::string samplesCsv(const EvaluationText& text) {
    std::vector<std::string> header{"sample", "class"};
    for (std::size_t i = 1; i <= Answer::kClasses; ++i) {
        header.push_back(fmt::format("answer{}", i));
        header.push_back(fmt::format("probability{}", i));
    }
    header.push_back("file");
    std::string csv = csvRow(header);
    std::int64_t sample = 0;
    for (const LabelledAnswer& each : text.evaluation.answers) {
        std::vector<std::string> row{std::to_string(sample), nameOfClass(text, each.label)};
        for (std::size_t i = 0; i < Answer::kClasses; ++i) {
            const bool has = each.answer.classes[i] >= 0;
            row.push_back(nameOfClass(text, each.answer.classes[i]));
            row.push_back(has ? csvNumber(each.answer.probabilities[i]) : std::string());
        }
        row.push_back(fileOf(text, sample++));
        csv += csvRow(row);
    }
    return csv;
}

}  // namespace

std::string leftOutText(const Evaluation& evaluation) {
    const std::int64_t files = evaluation.counts.leftOut;
    return files > 0 ? fmt::format(", {} left out", plural(files, "file")) : std::string();
}

std::string evaluationReport(const EvaluationText& text) {
    std::string out = headText(text.evaluation) + metricsText(text);
    const auto matrix = ConfusionMatrix::from(text.evaluation.counts);
    if (matrix.ok()) out += scoresText(text, matrix.value()) + confusionsText(text, matrix.value());
    return out;
}

std::string evaluationJson(const EvaluationText& text, Json remarks) {
    const Evaluation& now = text.evaluation;
    Json json{{"evaluation", now.id},       {"trial", now.trial},     {"checkpoint", now.checkpoint},
              {"step", now.step},           {"epoch", now.epoch},     {"data", now.data},
              {"dataset", now.dataset},     {"split", now.split},     {"devices", now.devices},
              {"precision", now.precision}, {"samples", now.samples}, {"left_out", now.counts.leftOut},
              {"seconds", now.seconds}};
    for (const Metric* each : metricsOf(text))
        json[std::string(each->field)] = numberJson(valueIn(resultOf(now), *each));
    addCountsJson(json, text);
    if (!isLanguage(text)) json["mistakes"] = mistakesJson(text);
    json["fingerprint"] = fingerprintJson(now.fingerprint);
    json["remarks"] = std::move(remarks);
    return lineOf(json);
}

std::string evaluationCsv(const EvaluationText& text, const std::string& table) {
    if (table == "samples") return samplesCsv(text);
    const auto matrix = ConfusionMatrix::from(text.evaluation.counts);
    if (!matrix.ok()) throw ProblemError(noTable(text.model, table));
    return table == "classes" ? classesCsv(text, matrix.value()) : confusionCsv(text, matrix.value());
}

std::optional<Problem> missingTable(const std::string& table, const ModelEntry& model,
                                    const std::vector<std::string>& classes) {
    if (table.empty()) return std::nullopt;
    const bool isLanguage = model.task == ModelTask::NextTokens;
    const bool counts = !isLanguage && std::ssize(classes) <= kMostCountedClasses;
    const bool isThere = table == "samples" ? !isLanguage : counts;
    return isThere ? std::nullopt : std::optional(noTable(model, table));
}

}  // namespace lockstep
