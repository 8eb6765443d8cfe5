#include "engine/train/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>

#include "app/checkpoint_file.h"
#include "app/commands/commands.h"
#include "app/evaluation_text.h"
#include "app/format.h"
#include "app/model_source.h"
#include "app/progress.h"
#include "app/spec_options.h"
#include "app/status_line.h"
#include "datasets/catalog.h"
#include "engine/train/asked_data.h"
#include "engine/train/open_data.h"
#include "engine/train/trained_on.h"

namespace lockstep {

namespace {

struct EvaluateOptions {
    ModelSource model;
    std::string data, dataset, split, csv;
    bool json = false, keeps = true;
    bool asksOtherData() const { return !data.empty() || !dataset.empty(); }
};

constexpr const char* kEvaluateHelp = R"(
Each device has the whole model and takes its share of the samples; nothing is exchanged before the sums at the end. On the
trial's own data the figures are those of training. What was found is kept with the trial; `lockstep show` lists it.

Examples:
  lockstep evaluate 3
  lockstep evaluate 3 --last --split train --devices cpu:2
  lockstep evaluate 3 --data ~/data/new-photos --csv confusion > confusion.csv
  lockstep evaluate best.safetensors --json)";

// What is no dataset may be good to predict on.
Problem unlabelled(Problem problem) {
    if (problem.code == "dataset.unrecognised") problem.code = "evaluate.unlabelled";
    return problem;
}

// The trial's spec, but of the data that are asked about, at the sizes that the model reads.
Result<TrialSpec> specWithData(const OpenedModel& model, const EvaluateOptions& options,
                               const Environment& environment) {
    const TrialSpec& own = model.resolved.spec;
    if (!options.asksOtherData())
        return specAskingAbout(own, *environment.dataset(own.dataset.id), own.dataPath, model.trained);
    const DatasetEntry* entry = environment.dataset(options.dataset);
    if (!options.dataset.empty() && !entry)
        return Problem{"--dataset", "spec.unknown-dataset", {options.dataset, "see `lockstep datasets`"}};
    if (!entry) {
        const auto found = recogniseDataset(environment.datasets(), options.data);
        if (!found.ok()) return unlabelled(found.problems().front());
        entry = found.value();
    }
    return specAskingAbout(own, *entry, absolutePath(options.data), model.trained);
}

// What is asked about.
struct AskedData {
    std::shared_ptr<const Dataset> data;
    std::string name;
    std::vector<Problem> remarks;
    std::optional<DataFingerprint> fingerprint = {};
    std::int64_t leftOut = 0;  // files
};

Result<AskedData> openAsked(Context& context, OpenedModel& model, const EvaluateOptions& options) {
    const auto spec = specWithData(model, options, context.environment());
    if (!spec.ok()) return spec.problems();
    auto resolved = resolve(spec.value(), context.environment());
    if (!resolved.ok()) return resolved.problems();
    model.resolved = std::move(resolved).value();
    const StatusLine line;
    OpeningWatch watch = watchWithRate([&line](const DataProgress& now) { line.say(dataProgressText(now)); });
    watch.trains = false;
    auto data = openData(model.resolved, std::move(watch));
    if (!data.ok()) return data.problems();
    if (!options.asksOtherData()) compareData(model.checkpoint, model.resolved, ChangedData::Accept, data.value());
    std::string name = dataName(model.resolved.spec);
    auto asked = asAsked(data.value(), askedSplit(options.split), model.trained, name);
    if (!asked.ok()) return asked.problems();
    std::vector<Problem> remarks = data.value().remarks;
    if (auto numbered = takenByNumbers(data.value(), model.trained, name)) remarks.push_back(std::move(*numbered));
    return AskedData{std::move(asked).value(), std::move(name), std::move(remarks), data.value().fingerprint,
                     data.value().leftOut};
}

EvaluateResult evaluateShown(const Context& context, const OpenedModel& model, const AskedData& asked) {
    const StatusLine line;
    const bool classifies = model.resolved.model->task != ModelTask::NextTokens;
    return evaluate({model.resolved, model.checkpoint, model.trained, asked.data, classifies,
                     [&line](std::int64_t done, std::int64_t total) { line.show(done, total); },
                     endingProcess(context)});
}

Evaluation evaluationOf(EvaluateResult result, const OpenedModel& model, const AskedData& asked,
                        const EvaluateOptions& options) {
    const Checkpoint& checkpoint = model.checkpoint;
    Evaluation out;
    out.trial = model.trial;
    out.checkpoint = model.role;
    out.step = checkpoint.step;
    out.epoch = checkpoint.epoch + (checkpoint.stepInEpoch > 0 ? 1 : 0);
    out.data = asked.name;
    out.dataset = model.resolved.spec.dataset.id;
    out.split = options.split;
    out.devices = model.resolved.spec.devices;
    out.precision = model.resolved.spec.precision;
    out.samples = static_cast<std::int64_t>(result.metrics.samples);
    out.seconds = result.seconds;
    out.loss = result.metrics.meanLoss();
    out.accuracy = result.metrics.accuracy();
    if (model.trained.classes.size() > Answer::kClasses) out.accuracy5 = result.metrics.accuracy5();
    out.counts = std::move(result.counts);
    out.counts.step = out.step;
    out.counts.epoch = out.epoch;
    out.counts.leftOut = asked.leftOut + std::ssize(result.unreadable);
    out.answers = std::move(result.answers);
    out.fingerprint = asked.fingerprint;
    return out;
}

void printEvaluation(const EvaluationText& text, const std::vector<Problem>& remarks, const EvaluateOptions& options,
                     const Words& words) {
    if (options.json) fmt::print("{}\n", evaluationJson(text, problemsJson(remarks, words)));
    else if (!options.csv.empty()) fmt::print("{}", evaluationCsv(text, options.csv));
    else fmt::print("{}", evaluationReport(text));
    std::fflush(stdout);
}

// Null, or why it could not be kept: what was found stands all the same.
std::exception_ptr tryToKeep(Evaluation& evaluation, const DataKnown& known, std::vector<Problem>& remarks) {
    try {
        const auto kept = keepEvaluation(evaluation, known);
        evaluation.id = kept.id;
        if (kept.remark) remarks.push_back(*kept.remark);
        return nullptr;
    } catch (...) {
        return std::current_exception();
    }
}

// What came up meanwhile: one remark of all that could not be read, if there was any.
std::vector<Problem> unreadable(const AskedData& asked, const EvaluateResult& result) {
    if (result.unreadable.empty()) return result.remarks;
    const Problem& first = result.unreadable.front();
    const std::int64_t all = asked.data->info().count;
    Problem said{asked.name,
                 "dataset.left-out",
                 {std::to_string(result.unreadable.size()), std::to_string(all), first.code, first.field}};
    said.args.insert(said.args.end(), first.args.begin(), first.args.end());
    std::vector<Problem> remarks{std::move(said)};
    remarks.insert(remarks.end(), result.remarks.begin(), result.remarks.end());
    return remarks;
}

int evaluateAsAsked(Context& context, EvaluateOptions options) {
    if (options.split.empty()) options.split = options.asksOtherData() ? "all" : "test";
    auto model = openModelSource(options.model, context.environment());
    if (!model.ok()) return context.report(model.problems());
    if (const auto problem = missingTable(options.csv, *model.value().resolved.model, model.value().trained.classes))
        return context.report({*problem});
    const auto asked = openAsked(context, model.value(), options);
    if (!asked.ok()) return context.report(asked.problems());
    std::vector<Problem> remarks = asked.value().remarks;
    std::ranges::move(settlePrecision(model.value(), options.model.on), std::back_inserter(remarks));
    if (!options.json) fmt::print(stderr, "{}", context.words().report(remarks));
    EvaluateResult result = evaluateShown(context, model.value(), asked.value());
    std::vector<Problem> later = unreadable(asked.value(), result);
    if (result.ofPrecision) later.insert(later.begin(), *result.ofPrecision);
    if (options.json) std::ranges::move(std::exchange(later, {}), std::back_inserter(remarks));
    Evaluation evaluation = evaluationOf(std::move(result), model.value(), asked.value(), options);
    const EvaluationText text{evaluation, model.value().trained.classes, *model.value().resolved.model,
                              asked.value().data.get()};
    const bool keeps = options.keeps && namesTrial(options.model.word);
    // It is told before it is kept, but for JSON, which says the number that the history gives it.
    const DataKnown known = knownBy(model.value().checkpoint);
    std::exception_ptr unkept = keeps && options.json ? tryToKeep(evaluation, known, remarks) : nullptr;
    printEvaluation(text, remarks, options, context.words());
    if (keeps && !options.json) unkept = tryToKeep(evaluation, known, later);
    fmt::print(stderr, "{}", context.words().report(later));
    if (unkept) std::rethrow_exception(unkept);
    return kDone;
}

}  // namespace

void addEvaluate(CLI::App& program, Run& run) {
    const auto options = std::make_shared<EvaluateOptions>();
    auto* command = program.add_subcommand("evaluate", "What a trained model gets right and wrong, class by class");
    addModelSource(*command, options->model);
    command->add_option("--data", options->data, "Other data, with classes that the model knows")->type_name("PATH");
    command->add_option("--dataset", options->dataset, "What kind the data are, where the path does not tell")
        ->type_name("NAME");
    command
        ->add_option(
            "--split", options->split,
            "Which samples: test (the default for the trial's own data), validation, train, or all (for other data)")
        ->type_name("NAME")
        ->check(CLI::IsMember({"test", "validation", "train", "all"}));
    auto* json = command->add_flag("--json", options->json, "One JSON object");
    command
        ->add_option("--csv", options->csv,
                     "A table alone: classes (their scores), confusion (the matrix), samples (their answers)")
        ->type_name("TABLE")
        ->check(CLI::IsMember({"classes", "confusion", "samples"}))
        ->excludes(json);
    command->add_flag("!--no-keep", options->keeps, "Leave the history alone");
    command->footer(kEvaluateHelp);
    command->callback(
        [options, &run] { run = [options](Context& context) { return evaluateAsAsked(context, *options); }; });
}

}  // namespace lockstep
