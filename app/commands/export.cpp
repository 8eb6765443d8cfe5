#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <memory>
#include <utility>

#include "app/checkpoint_file.h"
#include "app/commands/commands.h"
#include "app/embedded.h"
#include "app/format.h"
#include "app/history_access.h"
#include "app/kept_data.h"
#include "app/made_folder.h"
#include "app/trial_json.h"
#include "engine/core/durable_file.h"
#include "engine/core/error.h"
#include "engine/core/utc_time.h"
#include "engine/report/tensorboard_file.h"
#include "engine/report/trial_series.h"
#include "engine/train/export_onnx.h"
#include "engine/train/export_pytorch.h"
#include "engine/train/trained_on.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

struct ExportOptions {
    std::string source;  // a trial, the file of a checkpoint, or that of a spec
    CheckpointChoice choice;
    std::string csv, json, tensorboard, onnx, pytorch;
    OnnxOptions onnxOptions;
    bool keepsNorms = false;
    bool wantsCurves() const { return !csv.empty() || !json.empty() || !tensorboard.empty(); }
    bool wantsModel() const { return !onnx.empty() || !pytorch.empty(); }
};

constexpr const char* kExportHelp = R"(
CSV has a row for each update and evaluation and a column for each metric; JSON has the settings, too. TensorBoard reads the
folder: tensorboard --logdir FOLDER. One FILE may be - for the standard output; what goes wrong is said in words on the
standard error. ONNX has the model, for any number of samples, and says in its metadata what it must be given: size,
channels, mean and deviation, classes. Weights alone: export-weights. The script for PyTorch trains the same model on the
same data with the same settings, alone or under torchrun, and says at its top what it does not express; for it, a trial
need not have trained yet, and the file of a spec (*.json) will do.

Examples:
  lockstep export 3 --csv trial3.csv
  lockstep export 3 --json - | jq .spec
  lockstep export 3 --tensorboard runs/trial3
  lockstep export 3 --onnx model.onnx --normalise
  lockstep export 3 --pytorch train.py)";

void writeOut(const std::string& file, const std::string& text) {
    if (file == "-") return fmt::print("{}", text);
    MadeFolder made = MadeFolder::of(file);
    writeNamedFile(file, text);
    made.keep();
}

std::string wholeJson(const TrialQuery& query, const TrialRow& row, const std::vector<TrialSeries>& series) {
    Json out = trialJson(row);
    const auto spec = query.spec(row.id);
    if (spec.ok()) out["spec"] = Json::parse(toJson(spec.value()));
    out["classes"] = classesOf(keptData(query, row));
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
    MadeFolder made(folder);
    const auto begin = static_cast<double>(utcSeconds(row.createdAt).value_or(0));
    const fs::path file =
        folder / fmt::format("events.out.tfevents.{}.lockstep.{}", static_cast<std::int64_t>(begin), row.id);
    replaceFile(file, tensorboardFile(begin, scalarsOf(series, begin)));
    made.keep();
    return file.string();
}

void exportCurves(const Context& context, const ExportOptions& options) {
    auto trials = openTrialsToRead(context);
    const TrialRow row = trials.row(trialNumberIn(options.source));
    const TrialQuery& query = trials.query();
    const auto series = seriesOf(query, row.id);
    if (!options.csv.empty()) writeOut(options.csv, seriesCsv(series));
    if (!options.json.empty()) writeOut(options.json, wholeJson(query, row, series));
    if (!options.tensorboard.empty())
        fmt::print(stderr, "{}\n", printable(writeTensorboard(options.tensorboard, row, series)));
}

std::size_t writeOnnx(const Checkpoint& checkpoint, const ResolvedSpec& resolved, const DatasetInfo& trained,
                      const ExportOptions& options) {
    OnnxOptions onnx = options.onnxOptions;
    onnx.foldsNorms = !options.keepsNorms;
    if (options.onnx == "-") {
        const std::string bytes = onnxOf(checkpoint, resolved, trained, onnx);
        std::fwrite(bytes.data(), 1, bytes.size(), stdout);
        return bytes.size();
    }
    MadeFolder made = MadeFolder::of(options.onnx);
    const std::size_t bytes = exportOnnx(checkpoint, resolved, trained, onnx, options.onnx);
    made.keep();
    return bytes;
}

// On no device: those of the trial need not be there.
std::vector<Problem> exportModel(Context& context, const ExportOptions& options) {
    const auto opened = openCheckpoint(options.source, options.choice);
    if (!opened.ok()) return opened.problems();
    const Checkpoint& checkpoint = opened.value().checkpoint;
    const auto resolved = resolveToExport(checkpoint.spec, context.environment());
    if (!resolved.ok()) return resolved.problems();
    const auto trained = trainedOn(checkpoint, resolved.value());
    if (!trained.ok()) return trained.problems();
    const std::size_t bytes = writeOnnx(checkpoint, resolved.value(), trained.value(), options);
    fmt::print(stderr, "{}: {} after {}, {}\n", printable(options.onnx), printable(checkpoint.spec.model.id),
               plural(checkpoint.step, "update"), bytesText(bytes));
    return {};
}

// What a script is made of: a checkpoint, a trial that has none yet, or a spec in a file.
struct ScriptSource {
    TrialSpec spec;
    std::optional<Checkpoint> checkpoint = {};
    std::optional<DatasetInfo> known = {};  // of the data that it was trained on, as the history keeps it
};

bool isSpecFile(const std::string& word) { return fs::path(word).extension() == ".json"; }

Result<ScriptSource> scriptSource(const Context& context, const ExportOptions& options) {
    const auto ofSpec = [](Result<TrialSpec> spec, const DataKnown& known) -> Result<ScriptSource> {
        if (!spec.ok()) return spec.problems();
        return ScriptSource{std::move(spec).value(), {}, trainedOnFrom(known.trainedOn)};
    };
    if (isSpecFile(options.source)) return ofSpec(trialSpecFromFile(options.source), {});
    auto opened = openCheckpoint(options.source, options.choice);
    if (!opened.ok()) {
        const std::string& code = opened.problems().front().code;
        if (code != "trial.no-checkpoint" && code != "trial.checkpoints-freed" && code != "trial.checkpoints-gone")
            return opened.problems();
        const std::int64_t trial = trialNumberIn(options.source);
        auto trials = openTrialsToRead(context);
        return ofSpec(trials.query().spec(trial), trials.query().known(trial));
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
    const auto source = scriptSource(context, options);
    if (!source.ok()) return source.problems();
    const auto& [spec, checkpoint, known] = source.value();
    const auto resolved = resolveToExport(spec, context.environment());
    if (!resolved.ok()) return resolved.problems();
    const auto trained = checkpoint ? trainedOn(*checkpoint, resolved.value())
                         : known    ? Result<DatasetInfo>(*known)
                                    : describeData(resolved.value());
    if (!trained.ok()) return trained.problems();
    const PytorchExport request{.spec = spec,
                                .resolved = resolved.value(),
                                .trained = trained.value(),
                                .devices = devicesNamed(spec),
                                .trial = namesTrial(options.source) ? trialNumberIn(options.source)
                                         : checkpoint               ? checkpoint->trial
                                                                    : 0,
                                .hasCheckpoint = checkpoint.has_value(),
                                .file = options.pytorch == "-" ? "" : fs::path(options.pytorch).filename().string(),
                                .text = scriptText};
    writeOut(options.pytorch, pytorchScript(request));
    return {};
}

// Another spelling of a file, or a link to it, is the same place; the standard output has more names than one.
std::string placeOf(const std::string& file) {
    if (file == "-" || file == "/dev/stdout" || file == "/dev/fd/1" || file == "/proc/self/fd/1") return "-";
    std::error_code unknown;
    fs::path place = fs::absolute(file);
    // weakly_canonical() takes a link whose file is still to be written for a file.
    constexpr int kMostLinks = 40;
    for (int links = 0; links < kMostLinks && fs::is_symlink(place, unknown); ++links)
        place = place.parent_path() / fs::read_symlink(place, unknown);
    place = fs::weakly_canonical(place, unknown);
    return unknown ? file : place.string();
}

// Two outputs to one place.
std::optional<Problem> mixedOutputs(const ExportOptions& options) {
    std::map<std::string, std::string> taken;
    for (const auto& [option, file] : {std::pair("--csv", options.csv), std::pair("--json", options.json),
                                       std::pair("--onnx", options.onnx), std::pair("--pytorch", options.pytorch)}) {
        if (file.empty()) continue;
        const auto [first, isFree] = taken.try_emplace(placeOf(file), option);
        if (!isFree)
            return Problem{
                option, placeOf(file) == "-" ? "export.two-outputs" : "export.one-file", {first->second, file}};
    }
    return std::nullopt;
}

// What of the request makes no sense together; empty: it does.
std::optional<Problem> contradictionIn(const ExportOptions& options) {
    const std::string choice = options.choice.option();
    if (!options.wantsCurves() && !options.wantsModel()) return Problem{"export", "export.nothing", {options.source}};
    if (options.wantsCurves() && !namesTrial(options.source)) return Problem{options.source, "export.no-trial", {}};
    if (auto mixed = mixedOutputs(options)) return mixed;
    if (choice.empty()) return std::nullopt;
    if (!options.wantsModel()) return Problem{choice, "export.whole-trial", {}};
    if (isSpecFile(options.source)) return Problem{options.source, "export.no-choice", {choice}};
    return std::nullopt;
}

int exportAsAsked(Context& context, const ExportOptions& options) {
    if (const auto problem = contradictionIn(options)) return context.report({*problem});
    if (options.wantsCurves()) exportCurves(context, options);
    auto problems = options.onnx.empty() ? std::vector<Problem>() : exportModel(context, options);
    if (problems.empty() && !options.pytorch.empty()) problems = exportScript(context, options);
    return problems.empty() ? kDone : context.report(problems);
}

}  // namespace

void addExport(CLI::App& program, Run& run) {
    const auto options = std::make_shared<ExportOptions>();
    auto* command = program.add_subcommand("export", "A trial's curves, settings and model for other programs");
    addCheckpointSource(*command, options->source, options->choice);
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
