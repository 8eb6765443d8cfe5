#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "app/checkpoint_file.h"
#include "app/commands/commands.h"
#include "app/embedded.h"
#include "app/format.h"
#include "app/history_access.h"
#include "app/model_source.h"
#include "app/trial_json.h"
#include "engine/core/durable_file.h"
#include "engine/core/error.h"
#include "engine/report/tensorboard_file.h"
#include "engine/report/trial_series.h"
#include "engine/train/evaluate.h"
#include "engine/train/export_onnx.h"
#include "engine/train/export_pytorch.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

struct ExportOptions {
    ModelSource source;
    std::string csv, json, tensorboard, onnx, pytorch;
    OnnxOptions onnxOptions;
    bool keepsNorms = false;
    bool wantsCurves() const { return !csv.empty() || !json.empty() || !tensorboard.empty(); }
};

constexpr const char* kExportHelp = R"(
CSV has a row for each update and evaluation and a column for each metric; JSON has the settings, too. TensorBoard reads the
folder: tensorboard --logdir FOLDER. FILE may be - for the standard output. ONNX has the model, for any number of samples,
and says in its metadata what it must be given: size, channels, mean and deviation, classes. Weights alone: export-weights.
The script for PyTorch trains the same model on the same data with the same settings, alone or under torchrun, and says at
its top what it does not express; for it, a trial need not have trained yet, and the file of a spec (*.json) will do.

Examples:
  lockstep export 3 --csv trial3.csv
  lockstep export 3 --json - | jq .spec
  lockstep export 3 --tensorboard runs/trial3
  lockstep export 3 --onnx model.onnx --normalise
  lockstep export 3 --pytorch train.py)";

// Of the trial's beginning; seconds since 1970.
double secondsOf(const std::string& utc) {
    std::tm parts{};
    const char* rest = strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    return rest ? static_cast<double>(timegm(&parts)) : 0;
}

void writeOut(const std::string& file, const std::string& text) {
    if (file == "-") fmt::print("{}", text);
    else replaceFile(file, text);
}

std::string wholeJson(const TrialQuery& query, const TrialRow& row, const std::vector<TrialSeries>& series) {
    Json out = trialJson(row);
    const auto spec = query.spec(row.id);
    if (spec.ok()) out["spec"] = Json::parse(toJson(spec.value()));
    out["series"] = Json::object();
    for (const TrialSeries& each : series) {
        Json points{{"step", Json::array()}, {"seconds", Json::array()}, {"value", Json::array()}};
        for (const SeriesPoint& point : each.points) {
            points["step"].push_back(point.step);
            points["seconds"].push_back(point.seconds);
            points["value"].push_back(point.value);
        }
        out["series"][each.key] = std::move(points);
    }
    return lineOf(out) + '\n';
}

std::string writeTensorboard(const fs::path& folder, const TrialRow& row, const std::vector<TrialSeries>& series) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) throw ProblemError({folder.string(), "out.unwritable", {failed.message()}});
    const double begin = secondsOf(row.createdAt);
    const fs::path file =
        folder / fmt::format("events.out.tfevents.{}.lockstep.{}", static_cast<std::int64_t>(begin), row.id);
    replaceFile(file, tensorboardFile(begin, scalarsOf(series, begin)));
    return file.string();
}

void exportCurves(const Context& context, const ExportOptions& options) {
    auto trials = openTrialsToRead(context);
    const TrialRow row = trials.row(std::stoll(options.source.word));
    const TrialQuery& query = trials.query();
    const auto series = seriesOf(query, row.id);
    if (!options.csv.empty()) writeOut(options.csv, seriesCsv(series));
    if (!options.json.empty()) writeOut(options.json, wholeJson(query, row, series));
    if (!options.tensorboard.empty())
        fmt::print(stderr, "{}\n", printable(writeTensorboard(options.tensorboard, row, series)));
}

std::vector<Problem> exportModel(Context& context, const ExportOptions& options) {
    const auto model = openModelSource(options.source, context.environment());
    if (!model.ok()) return model.problems();
    OnnxOptions onnx = options.onnxOptions;
    onnx.foldsNorms = !options.keepsNorms;
    const auto& [file, role, checkpoint, resolved, trained] = model.value();
    const std::size_t bytes = exportOnnx(checkpoint, resolved, trained, onnx, options.onnx);
    fmt::print(stderr, "{}: {} after {} updates, {}\n", printable(options.onnx), printable(checkpoint.spec.model.id),
               countText(checkpoint.step), bytesText(bytes));
    return {};
}

// What a script is made of: a checkpoint, a trial that has none yet, or a spec in a file.
struct ScriptSource {
    TrialSpec spec;
    std::optional<Checkpoint> checkpoint;
};

bool isSpecFile(const std::string& word) { return fs::path(word).extension() == ".json"; }

Result<ScriptSource> scriptSource(const Context& context, const ModelSource& source) {
    const auto ofSpec = [](Result<TrialSpec> spec) -> Result<ScriptSource> {
        if (!spec.ok()) return spec.problems();
        return ScriptSource{std::move(spec).value(), {}};
    };
    if (isSpecFile(source.word)) return ofSpec(trialSpecFromFile(source.word));
    auto opened = openCheckpoint(source.word, source.choice);
    if (!opened.ok()) {
        const std::string& code = opened.problems().front().code;
        if (code != "trial.no-checkpoint" && code != "trial.checkpoints-freed") return opened.problems();
        return ofSpec(openTrialsToRead(context).query().spec(std::stoll(source.word)));
    }
    auto& checkpoint = opened.value().checkpoint;
    const TrialSpec spec = checkpoint.spec;
    return ScriptSource{spec, std::move(checkpoint)};
}

std::string_view scriptText(std::string_view name) {
    for (const EmbeddedText& each : embeddedTexts())
        if (each.name == "pytorch/" + std::string(name)) return each.text;
    throw EngineError(EngineError::Kind::Internal, std::string(name), "is no part of the program");
}

std::vector<Problem> exportScript(Context& context, const ExportOptions& options) {
    const auto source = scriptSource(context, options.source);
    if (!source.ok()) return source.problems();
    const auto& [spec, checkpoint] = source.value();
    const auto resolved = resolveToExport(spec, context.environment());
    if (!resolved.ok()) return resolved.problems();
    const auto trained = checkpoint ? trainedOn(*checkpoint, resolved.value()) : describeData(resolved.value());
    if (!trained.ok()) return trained.problems();
    const PytorchExport request{.spec = spec,
                                .resolved = resolved.value(),
                                .trained = trained.value(),
                                .devices = devicesNamed(spec),
                                .trial = namesTrial(options.source.word) ? std::stoll(options.source.word)
                                         : checkpoint                    ? checkpoint->trial
                                                                         : 0,
                                .hasCheckpoint = checkpoint.has_value(),
                                .file = options.pytorch == "-" ? "" : fs::path(options.pytorch).filename().string(),
                                .text = scriptText};
    writeOut(options.pytorch, pytorchScript(request));
    return {};
}

int exportAsAsked(Context& context, const ExportOptions& options) {
    if (!options.wantsCurves() && options.onnx.empty() && options.pytorch.empty())
        return context.report({{"export", "export.nothing", {options.source.word}}});
    if (options.wantsCurves() && !namesTrial(options.source.word))
        return context.report({{options.source.word, "export.no-trial", {}}});
    if (options.wantsCurves()) exportCurves(context, options);
    auto problems = options.onnx.empty() ? std::vector<Problem>() : exportModel(context, options);
    if (problems.empty() && !options.pytorch.empty()) problems = exportScript(context, options);
    return problems.empty() ? kDone : context.report(problems);
}

}  // namespace

void addExport(CLI::App& program, Run& run) {
    const auto options = std::make_shared<ExportOptions>();
    auto* command = program.add_subcommand("export", "A trial's curves, settings and model for other programs");
    addModelSource(*command, options->source);
    command->add_option("--csv", options->csv, "Curves as CSV")->type_name("FILE");
    command->add_option("--json", options->json, "Settings and curves as one JSON object")->type_name("FILE");
    command->add_option("--tensorboard", options->tensorboard, "Curves as an event file of TensorBoard's")
        ->type_name("FOLDER");
    auto* onnx = command->add_option("--onnx", options->onnx, "The model as ONNX (opset 13)")->type_name("FILE");
    command
        ->add_flag("--normalise", options->onnxOptions.normalises, "With --onnx: it takes pixels of 0 to 1 as they are")
        ->needs(onnx);
    command->add_flag("--keep-norms", options->keepsNorms, "With --onnx: batch norms are not folded into convolutions")
        ->needs(onnx);
    command->add_option("--pytorch", options->pytorch, "A script that trains the same in PyTorch")->type_name("FILE");
    command->footer(kExportHelp);
    command->callback(
        [options, &run] { run = [options](Context& context) { return exportAsAsked(context, *options); }; });
}

}  // namespace lockstep
