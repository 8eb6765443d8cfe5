#include "app/spec_options.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/embedded.h"
#include "datasets/catalog.h"

namespace lockstep {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr std::string_view kPresetFolder = "presets/";
constexpr std::string_view kFirstPreset = "fashion";  // needs nothing but the program, and minutes
constexpr std::string_view kPresetEnding = ".json";

std::string presetName(const EmbeddedText& text) {
    if (!text.name.starts_with(kPresetFolder)) return {};
    return std::string(
        text.name.substr(kPresetFolder.size(), text.name.size() - kPresetFolder.size() - kPresetEnding.size()));
}

// true, 3, 0.5 and "quoted text" are what JSON says they are; anything else is text.
Json valueOf(const std::string& text) {
    const auto value = Json::parse(text, nullptr, false);
    return value.is_primitive() && !value.is_discarded() ? value : Json(text);
}

void choose(Json& spec, const char* key, const std::optional<std::string>& id) {
    if (id && spec[key]["id"] != *id) spec[key] = {{"id", *id}};  // another id: its own fallbacks
}

template <class T>
void put(Json& spec, const char* key, const std::optional<T>& value) {
    if (value) spec[key] = *value;
}

std::optional<Problem> applySetting(Json& spec, const std::string& setting) {
    const auto equals = setting.find('=');
    const auto key = setting.substr(0, equals);
    const auto dot = key.find('.');
    if (equals == setting.npos || key.empty() || dot == 0 || dot + 1 == key.size()) {
        return Problem{"--set", "cli.bad-set", {setting}};
    }
    const auto value = valueOf(setting.substr(equals + 1));
    if (dot == key.npos) {
        spec[key] = value;
        return std::nullopt;
    }
    auto& object = spec[key.substr(0, dot)];
    if (!object.is_object() && !object.is_null()) return Problem{"--set", "cli.bad-set", {setting}};
    object[key.substr(dot + 1)] = value;
    return std::nullopt;
}

// --data without --dataset: the entry that recognises the path.
std::optional<Problem> applyData(Json& spec, const SpecOptions& options, const Environment& environment) {
    choose(spec, "dataset", options.dataset);
    if (!options.data) return std::nullopt;
    if (!options.dataset) {
        const auto entry = recogniseDataset(environment.datasets(), *options.data);
        if (!entry.ok()) return entry.problems().front();
        choose(spec, "dataset", entry.value()->id);
    }
    spec["dataset"]["path"] = *options.data;
    return std::nullopt;
}

fs::path absolutePath(const fs::path& path) {
    std::error_code failed;
    const fs::path whole = path.empty() ? path : fs::absolute(path, failed);
    return path.empty() || failed ? path : whole.lexically_normal();
}

Result<TrialSpec> startingPoint(const SpecOptions& options, const TrialSpec& base) {
    if (!options.preset.empty()) return preset(options.preset);
    if (!options.file.empty()) return trialSpecFromFile(options.file);
    return base;
}

}  // namespace

std::vector<std::string> presetNames() {
    std::vector<std::string> names;
    for (const auto& text : embeddedTexts()) {
        if (auto name = presetName(text); !name.empty()) names.push_back(std::move(name));
    }
    std::ranges::stable_partition(names, [](const std::string& name) { return name == kFirstPreset; });
    return names;
}

Result<TrialSpec> preset(const std::string& name) {
    std::string known;
    for (const auto& text : embeddedTexts()) {
        const auto each = presetName(text);
        if (each.empty()) continue;
        if (each == name) return trialSpecFromJson(text.text, text.name);
        known += (known.empty() ? "" : ", ") + each;
    }
    return Problem{"--preset", "preset.unknown", {name, known}};
}

Result<TrialSpec> specFrom(const SpecOptions& options, const TrialSpec& base, const Environment& environment) {
    const auto start = startingPoint(options, base);
    if (!start.ok()) return start;
    auto json = Json::parse(toJson(start.value()));
    if (auto problem = applyData(json, options, environment)) return *problem;
    choose(json, "model", options.model);
    choose(json, "optimizer", options.optimizer);
    choose(json, "schedule", options.schedule);
    put(json, "title", options.title);
    put(json, "weights", options.weights);
    put(json, "new_head", options.newHead);
    put(json, "frozen", options.frozen);
    put(json, "devices", options.devices);
    put(json, "batch", options.batch);
    put(json, "precision", options.precision);
    put(json, "mode", options.mode);
    put(json, "accumulation", options.accumulation);
    put(json, "recompute", options.recompute);
    put(json, "epochs", options.epochs);
    put(json, "seed", options.seed);
    put(json, "learning_rate", options.learningRate);
    put(json, "label_smoothing", options.labelSmoothing);
    put(json, "average_decay", options.averageDecay);
    for (const auto& setting : options.settings) {
        if (auto problem = applySetting(json, setting)) return *problem;
    }
    auto spec = trialSpecFromJson(json.dump(-1, ' ', false, Json::error_handler_t::replace), "");
    if (!spec.ok()) return spec;
    spec.value().dataPath = absolutePath(spec.value().dataPath);
    spec.value().weights = absolutePath(spec.value().weights).string();
    return spec;
}

void addSourceOptions(CLI::App& command, SpecOptions& options) {
    auto* named =
        command.add_option("--preset", options.preset, "Start from a preset of the program, for example fashion")
            ->type_name("NAME");
    command.add_option("--spec", options.file, "Start from a trial's spec file (JSON); other options go over it")
        ->type_name("FILE")
        ->excludes(named);
}

void addDataOptions(CLI::App& command, SpecOptions& options) {
    command.add_option("--dataset", options.dataset, "A dataset by its id; `lockstep datasets` lists them")
        ->type_name("ID");
    command
        .add_option("--data", options.data, "Where the data lies; its format is recognised unless --dataset says it")
        ->type_name("PATH");
}

void addModelOptions(CLI::App& command, SpecOptions& options) {
    command.add_option("--model", options.model, "An architecture; `lockstep models` lists them")->type_name("NAME");
    command
        .add_option("--devices", options.devices,
                    "cpu:2, cpu:2x1 (one core each), cuda:0,1, cuda:all; auto: every card, or else all cores")
        ->type_name("LIST");
    command.add_option("--batch", options.batch, "Samples per update, over all devices together")->type_name("N");
    command
        .add_option("--precision", options.precision,
                    "fp32; bf16, on CPU devices what products of matrices read; on GPUs also tf32")
        ->type_name("NAME");
    command
        .add_option("--mode", options.mode, "fast, or reproducible: the same bits on 1, 2, 4 or 8 devices of a kind")
        ->type_name("NAME");
    command
        .add_option("--accumulation", options.accumulation,
                    "Passes of each device per update; more take less memory for the same batch")
        ->type_name("N");
    command
        .add_option(
            "--recompute", options.recompute,
            "none, or segments: activations are made again, not kept; less memory, a fifth to a half more computing")
        ->type_name("NAME");
    command.add_option("--optimizer", options.optimizer, "sgd, adamw, lars or muon")->type_name("NAME");
    command
        .add_option("--average-decay", options.averageDecay,
                    "Evaluate averages of the weights; 0.99 remembers some 100 updates, 0 (the default): no averages")
        ->type_name("SHARE");
    command
        .add_option("--set", options.settings, "Any other setting, for example optimizer.momentum=0.95 model.width=256")
        ->type_name("KEY=VALUE")
        ->take_all();
}

void addRunOptions(CLI::App& command, SpecOptions& options) {
    command
        .add_option("--weights", options.weights,
                    "Start from these weights: safetensors of a trial, or of torchvision's ResNets and VGGs")
        ->type_name("FILE");
    command
        .add_option(
            "--new-head", options.newHead,
            "With --weights: whether the last layer starts fresh; no, yes, or auto: for another number of classes")
        ->type_name("NAME");
    command.add_option("--frozen", options.frozen, "Layers that are not trained, for example stem,block1")
        ->type_name("LAYERS");
    command.add_option("--epochs", options.epochs, "Passes over the training data")->type_name("N");
    command.add_option("--lr", options.learningRate, "The base learning rate")->type_name("RATE");
    command.add_option("--schedule", options.schedule, "constant, step, cosine or one-cycle")->type_name("NAME");
    command.add_option("--label-smoothing", options.labelSmoothing, "From 0 (none) towards 1")->type_name("SHARE");
    command.add_option("--seed", options.seed, "Same seed, same order, same start")->type_name("N");
    command.add_option("--title", options.title, "A name for the list of trials")->type_name("TEXT");
}

}  // namespace lockstep
