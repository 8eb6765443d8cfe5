#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "app/commands/commands.h"
#include "app/curve.h"
#include "app/evaluation_text.h"
#include "app/format.h"
#include "app/history_access.h"
#include "app/kept_data.h"
#include "app/listing.h"
#include "app/run_printer.h"
#include "app/trial_json.h"
#include "engine/core/disk_use.h"
#include "engine/spec/bandwidths.h"
#include "engine/spec/kept_checkpoints.h"
#include "engine/spec/precision_text.h"
#include "engine/spec/trial_fields.h"
#include "engine/train/checkpoint_keeper.h"
#include "engine/train/schedule.h"

namespace lockstep {

namespace {

struct ShowOptions {
    std::int64_t trial = 0;
    bool json = false, onlySpec = false;
    std::string metric;
};

constexpr int kCurveWidth = 64;
constexpr int kCurveHeight = 8;
constexpr std::size_t kMostMessages = 5;

std::string choiceText(const Choice& choice) {
    std::string out = choice.id;
    for (const auto& [name, value] : choice.params) out += "  " + name + "=" + text(value);
    return out;
}

// Of the settings that a reader does not look for unless they were chosen.
void addUnusual(Table& table, const TrialField& setting, const TrialSpec& spec) {
    constexpr std::string_view kAlwaysShown[] = {"title", "devices",       "batch", "epochs",
                                                 "seed",  "learning_rate", "mode",  "precision"};
    const auto& [name, fallback, low, high, choices, unit, meaning] = setting.field;
    const ParamValue value = setting.valueIn(spec);
    if (value == fallback || std::ranges::find(kAlwaysShown, name) != std::end(kAlwaysShown)) return;
    std::string label = name.starts_with("link_") ? "simulated " + name : name;
    std::ranges::replace(label, '_', ' ');
    table.add({label, text(value) + (unit.empty() ? "" : " " + unit)});
}

std::string learningRateText(const TrialSpec& spec) {
    const double factor = rateFactor(spec.learningRateRule, spec.batch, spec.learningRateBatch);
    const std::string rate = fmt::format("{}", spec.learningRate);
    return factor == 1 ? rate : fmt::format("{}, for this batch {:.6g}", rate, spec.learningRate * factor);
}

void printSettings(const TrialSpec& spec, const DataKnown& known, const std::optional<RunStarted>& started) {
    Table table({"SETTING", "VALUE"});
    table.add({"dataset", choiceText(spec.dataset) + (spec.dataPath.empty() ? "" : "  " + spec.dataPath.string())});
    if (const std::string classes = classesText(known); !classes.empty()) table.add({"classes", classes});
    table.add({"model", choiceText(spec.model)});
    table.add({"devices", spec.devices});
    table.add({"batch", fmt::format("{} over all devices", spec.batch)});
    table.add({"optimizer", choiceText(spec.optimizer)});
    table.add({"learning rate", learningRateText(spec)});
    table.add({"schedule", choiceText(spec.schedule)});
    table.add({"augmentation", spec.augmentation.empty() ? "none" : choiceText({"", spec.augmentation}).substr(2)});
    table.add({"seed", std::to_string(spec.seed)});
    table.add({"mode", spec.mode});
    table.add({"precision", precisionText(spec, started)});
    for (const TrialField& each : trialFields()) addUnusual(table, each, spec);
    fmt::print("{}", table.text());
}

// First what counts for such a model, with its best; then what else rows keep.
void addMetrics(Table& table, const TrialRow& row) {
    const TaskMetrics& counts = metricsOf(row);
    const auto add = [&](const std::string& label, auto valueOf) {
        const auto value = valueOf(row, *counts.quality);
        if (!value) return;
        const std::string aside = counts.aside ? ", " + metricText(*counts.aside, *valueOf(row, *counts.aside)) : "";
        table.add({label + ' ' + std::string(counts.quality->name), metricText(*counts.quality, *value) + aside});
    };
    const std::string split(text(row.chooses()));
    add(split, &newest);
    add(row.chooses() == Split::Test ? "best" : "best " + split, &best);
    for (const Metric& metric : metrics()) {
        const auto value = newest(row, metric);
        if (!metric.evaluated || &metric == counts.quality || !value) continue;
        table.add({std::string(text(metric.split)) + ' ' + std::string(metric.name), metricText(metric, *value)});
    }
}

void addMessages(Table& table, const std::vector<Message>& messages, const Words& words) {
    for (std::size_t i = 0; i < std::min(messages.size(), kMostMessages); ++i)
        table.add({messages[i].level, words.what(messages[i].text)});
    if (messages.size() > kMostMessages)
        table.add({"", fmt::format("… and {} more: --json has all", messages.size() - kMostMessages)});
}

// What one trial came to, besides what its row holds.
struct Results {
    std::vector<Problem> problems;  // why its latest attempt failed
    std::vector<Message> messages;
    std::optional<BindingChanged> binding;
};

void printResults(const TrialRow& row, const Results& results, const Words& words) {
    Table table({"RESULT", "VALUE"});
    table.add({"state", row.deleted ? row.state + ", in the trash" : row.state});
    table.add({"progress",
               fmt::format("epoch {} of {}, step {}, attempt {}", row.epoch, row.epochs, row.step, row.attempts)});
    addMetrics(table, row);
    if (row.samplesPerSecond) table.add({"training rate", rateText(*row.samplesPerSecond)});
    if (results.binding) table.add({"bandwidths", words.what(verdictOf(*results.binding))});
    if (row.seconds) table.add({"time", durationText(*row.seconds)});
    table.add({"started", timeText(row.createdAt)});
    if (!row.finishedAt.empty()) table.add({"ended", timeText(row.finishedAt)});
    for (const auto& problem : results.problems) {
        table.add({"failure", words.what(problem)});
        if (const auto remedy = words.remedy(problem); !remedy.empty()) table.add({"remedy", remedy});
    }
    addMessages(table, results.messages, words);
    if (!row.note.empty()) table.add({"note", row.note});
    table.add({"files", row.runDirectory});
    fmt::print("{}", table.text());
}

// What is kept of it, and what that weighs.
struct KeptText {
    FoundCheckpoint found;
    std::uint64_t bytes = 0;
};
std::vector<KeptText> keptOf(const TrialRow& row) {
    const std::filesystem::path folder = std::filesystem::path(row.runDirectory) / "checkpoints";
    std::vector<KeptText> kept;
    const auto files = filesBelow(folder);
    for (FoundCheckpoint& each : findCheckpoints(folder)) {
        const auto file = std::ranges::find(files, checkpointName(each.file.role), &DiskFile::path);
        kept.push_back({std::move(each), file == files.end() ? 0 : file->bytes});
    }
    return kept;
}

const Metric* scoredBy(const FoundCheckpoint& found) { return found.score ? findMetric(found.score->metric) : nullptr; }

// "VALIDATION": the samples that gave the checkpoints their figures.
std::string scoreHeader(const std::vector<KeptText>& kept) {
    const auto scored = std::ranges::find_if(kept, [](const KeptText& each) { return scoredBy(each.found); });
    std::string split(text(scored == kept.end() ? Split::Test : scoredBy(scored->found)->split));
    std::ranges::transform(split, split.begin(), [](unsigned char c) { return std::toupper(c); });
    return split;
}

std::string scoreText(const FoundCheckpoint& found) {
    const Metric* metric = scoredBy(found);
    return metric ? namedText(*metric, found.score->value) : "–";
}

void printCheckpoints(const TrialRow& row) {
    const auto kept = keptOf(row);
    if (const auto freed = checkpointsFreedAt(std::filesystem::path(row.runDirectory) / "checkpoints"))
        fmt::print("\nCheckpoints were freed on {}{}\n", timeText(*freed), kept.empty() ? ": none is left" : "");
    if (kept.empty()) return;
    Table table({"CHECKPOINT", "EPOCH", "STEP", scoreHeader(kept), "ON DISK"});
    for (const auto& [found, bytes] : kept)
        table.add(
            {found.file.role, std::to_string(found.epoch), countText(found.step), scoreText(found), bytesText(bytes)});
    fmt::print("\n{}", table.text());
}

Json checkpointsJson(const TrialRow& row) {
    Json out = Json::array();
    for (const auto& [found, bytes] : keptOf(row)) {
        Json each{{"checkpoint", found.file.role}, {"epoch", found.epoch}, {"step", found.step}, {"bytes", bytes}};
        if (found.score) each["metric"] = found.score->metric, each["value"] = found.score->value;
        out.push_back(std::move(each));
    }
    return out;
}

// What was asked of its checkpoints, newest first.
void printEvaluations(const std::vector<Evaluation>& evaluations) {
    if (evaluations.empty()) return;
    Table table({"EVALUATION", "CHECKPOINT", "DATA", "SPLIT", "PRECISION", "SAMPLES", "LOSS", "ACCURACY", "WHEN"});
    for (const Evaluation& each : evaluations)
        table.add({std::to_string(each.id), each.checkpoint, dataText(each.dataset, each.data), each.split,
                   each.precision, countText(each.samples) + leftOutText(each),
                   metricText(*findMetric("test_loss"), each.loss), percentText(each.accuracy),
                   timeText(each.createdAt)});
    fmt::print("\n{}", table.text());
}

void printChanges(const std::vector<std::string>& changes) {
    if (!changes.empty()) fmt::print("\n");
    for (const std::string& each : changes) fmt::print("{}\n", each);
}

Json numberOf(const Evaluation* evaluation) { return evaluation ? Json(evaluation->id) : Json(); }

Json evaluationsJson(const std::vector<Evaluation>& evaluations) {
    Json out = Json::array();
    for (const Evaluation& each : evaluations)
        out.push_back({{"evaluation", each.id},
                       {"created_at", each.createdAt},
                       {"checkpoint", each.checkpoint},
                       {"step", each.step},
                       {"data", each.data},
                       {"dataset", each.dataset.empty() ? Json() : Json(each.dataset)},
                       {"split", each.split},
                       {"devices", each.devices},
                       {"precision", each.precision.empty() ? Json() : Json(each.precision)},
                       {"samples", each.samples},
                       {"left_out", each.counts.leftOut},
                       {"loss", each.loss},
                       {"accuracy", each.accuracy},
                       {"fingerprint", fingerprintJson(each.fingerprint)},
                       {"data_changed_by", numberOf(changedSince(each, evaluations))}});
    return out;
}

void printCurve(const std::string& metric, const std::vector<SeriesPoint>& points) {
    if (points.empty()) return;
    std::vector<double> values;
    for (const auto& point : points) values.push_back(point.value);
    const auto curve = curveText(values, kCurveWidth, kCurveHeight);
    if (curve.empty()) return;
    fmt::print("\n{} over steps {} to {}\n{}", metric, points.front().step, points.back().step, curve);
}

// Without a metric that was asked for: what is learnt from, and what it comes to.
void printCurves(const TrialQuery& query, const TrialRow& row) {
    const std::string quality(metricsOf(row).quality->key);
    printCurve("loss", query.series(row.id, "loss"));
    printCurve(quality, query.series(row.id, quality));
    if (const auto sample = query.text(row.id))
        fmt::print("\nwritten after epoch {}\n{}", sample->epoch, sampleText(*sample));
}

// Why the latest attempt failed; empty: it did not.
std::vector<Problem> problemsOfShow(const TrialQuery& query, std::int64_t trial) {
    const auto failed = query.failure(trial);
    return failed ? std::vector{problemOf(*failed)} : std::vector<Problem>{};
}

Json messagesJson(const std::vector<Message>& messages, const Words& words) {
    Json out = Json::array();
    for (const Message& each : messages) {
        Json row = problemsJson({each.text}, words).front();
        row["level"] = each.level;
        out.push_back(std::move(row));
    }
    return out;
}

// What bound the latest attempt last, as it was at its newest step.
std::optional<BindingChanged> bindingOf(const TrialQuery& query, std::int64_t trial) {
    auto binding = query.binding(trial);
    if (!binding) return binding;
    const auto take = [&](const char* metric, double& into) {
        const auto series = query.decimatedSeries(trial, metric, 1);
        if (series.empty() || series.back().step < binding->step) return;
        into = series.back().mean;
    };
    take("loading_rate", binding->loading);
    take("training_rate", binding->training);
    take("samples_per_second", binding->reached);
    return binding;
}

Json bandwidthsJson(const std::optional<BindingChanged>& seen) {
    if (!seen) return {};
    return {{"binding", seen->binding},
            {"loading_samples_per_second", seen->loading},
            {"training_samples_per_second", seen->training},
            {"reached_samples_per_second", seen->reached},
            {"loader_threads", seen->loaderThreads},
            {"loader_limit", seen->limit},
            {"step", seen->step}};
}

Json showJson(const TrialQuery& query, const TrialRow& row, const TrialSpec& spec, const std::string& metric,
              const Words& words) {
    Json out = trialJson(row);
    out["problems"] = problemsJson(problemsOfShow(query, row.id), words);
    out["messages"] = messagesJson(query.messages(row.id), words);
    out["bandwidths"] = bandwidthsJson(bindingOf(query, row.id));
    out["spec"] = Json::parse(toJson(spec));
    const auto started = query.started(row.id);
    out["precision"] = started && !started->precision.empty() ? Json(started->precision) : Json();
    out["metrics"] = query.metrics(row.id);
    out["checkpoints"] = checkpointsJson(row);
    if (const auto freed = checkpointsFreedAt(std::filesystem::path(row.runDirectory) / "checkpoints"))
        out["checkpoints_freed_at"] = *freed;
    const auto evaluations = query.evaluations(row.id);
    out["evaluations"] = evaluationsJson(evaluations);
    const DataKnown known = keptData(query, row);
    out["classes"] = classesOf(known);
    out["fingerprint"] = fingerprintJson(known.fingerprint);
    out["data_changed_by"] = numberOf(changedSinceTraining(known.fingerprint, spec, evaluations));
    if (const auto sample = query.text(row.id))
        out["text"] = {{"epoch", sample->epoch}, {"prompt", sample->prompt}, {"text", sample->text}};
    if (metric.empty()) return out;
    out["series"] = {{"metric", metric}, {"step", Json::array()}, {"seconds", Json::array()}, {"value", Json::array()}};
    for (const auto& point : query.series(row.id, metric)) {
        out["series"]["step"].push_back(point.step);
        out["series"]["seconds"].push_back(point.seconds);
        out["series"]["value"].push_back(point.value);
    }
    return out;
}

int show(Context& context, const ShowOptions& options) {
    auto trials = openTrialsToRead(context);
    keepQueueGoing(trials, context);
    const auto row = trials.row(options.trial);
    const TrialQuery& query = trials.query();
    const auto spec = query.spec(options.trial);
    if (!spec.ok()) return context.report(spec.problems());
    if (options.onlySpec) {
        fmt::print("{}", toJson(spec.value()));
    } else if (options.json) {
        fmt::print("{}\n", lineOf(showJson(query, row, spec.value(), options.metric, context.words())));
    } else {
        fmt::print("Trial {}{}\n\n", row.id, row.title.empty() ? "" : ": " + printable(row.title));
        const DataKnown known = keptData(query, row);
        printSettings(spec.value(), known, query.started(row.id));
        fmt::print("\n");
        printResults(row, {problemsOfShow(query, row.id), query.messages(row.id), bindingOf(query, row.id)},
                     context.words());
        printCheckpoints(row);
        const auto evaluations = query.evaluations(row.id);
        printEvaluations(evaluations);
        printChanges(changesText(known.fingerprint, spec.value(), evaluations));
        if (options.metric.empty()) printCurves(query, row);
        else printCurve(options.metric, query.series(row.id, options.metric));
    }
    return kDone;
}

}  // namespace

void addShow(CLI::App& program, Run& run) {
    const auto options = std::make_shared<ShowOptions>();
    auto* command = program.add_subcommand("show", "One trial: settings, results, curves");
    addTrialOption(*command, options->trial);
    command->add_option("--metric", options->metric, "The curve of this metric, for example gradient_norm")
        ->type_name("NAME");
    auto* spec =
        command->add_flag("--spec", options->onlySpec, "Only its spec, to start from: lockstep train --spec FILE");
    command->add_flag("--json", options->json, "As JSON; with --metric the points too")->excludes(spec);
    command->footer(
        "\nExamples:\n  lockstep show 7\n  lockstep show 7 --spec > again.json && lockstep train --spec again.json "
        "--lr 0.05");
    command->callback([options, &run] { run = [options](Context& context) { return show(context, *options); }; });
}

}  // namespace lockstep
