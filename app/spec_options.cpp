#include "app/spec_options.h"

#include <algorithm>

#include "app/embedded.h"
#include "datasets/catalog.h"
#include "engine/data/augment.h"
#include "engine/ops/update.h"
#include "engine/spec/trial_fields.h"
#include "engine/spec/trial_settings.h"
#include "engine/train/schedule.h"

namespace lockstep {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPresetFolder = "presets/";
constexpr std::string_view kFirstPreset = "fashion";  // needs nothing but the program, and minutes
constexpr std::string_view kPresetEnding = ".json";
constexpr std::string_view kDataPath = "dataset.path";

std::string presetName(const EmbeddedText& text) {
    if (!text.name.starts_with(kPresetFolder)) return {};
    return std::string(
        text.name.substr(kPresetFolder.size(), text.name.size() - kPresetFolder.size() - kPresetEnding.size()));
}

// --data without --dataset: the entry that recognises the path.
std::optional<Problem> recognise(TrialSpec& spec, const SpecOptions& options, const Environment& environment) {
    const auto given = [&](std::string_view path) {
        const auto found = std::ranges::find(options.given, path, [](const auto& each) { return each.first; });
        return found == options.given.end() ? nullptr : &found->second;
    };
    const auto* path = given(kDataPath);
    if (!path || given("dataset")) return std::nullopt;
    const auto entry = recogniseDataset(environment.datasets(), *path);
    if (!entry.ok()) return entry.problems().front();
    return writeSetting(spec, "dataset", entry.value()->id);
}

std::optional<Problem> writeWord(TrialSpec& spec, const std::string& setting) {
    const auto equals = setting.find('=');
    const auto path = setting.substr(0, equals);
    if (equals == setting.npos || !SettingPath::from(path)) return Problem{"--set", "cli.bad-set", {setting}};
    return writeSetting(spec, path, settingValue(path, setting.substr(equals + 1)));
}

template <class Entries>
std::string namesOf(const Entries& entries) {
    std::string names;
    for (const auto& entry : entries) names += (names.empty() ? "" : ", ") + std::string(entry.name);
    return names;
}

// CLI11 sets the lines of a help text one below the other, but does not break them.
std::string broken(const std::string& help) {
    constexpr std::size_t kColumns = 88;
    std::string out;
    for (std::size_t begin = 0; begin < help.size();) {
        std::size_t end = std::min(begin + kColumns, help.size());
        if (const auto blank = help.rfind(' ', end); end < help.size() && blank != help.npos && blank > begin)
            end = blank;
        out += (out.empty() ? "" : "\n") + help.substr(begin, end - begin);
        begin = end + 1;
    }
    return out;
}

const char* kindName(std::string_view path, const TrialField* field) {
    if (path == kDataPath) return "PATH";
    if (!field || !field->field.choices.empty()) return "NAME";
    if (field->field.unit == "file") return "FILE";
    if (takesText(path)) return "TEXT";
    return std::holds_alternative<double>(field->field.fallback) ? "NUMBER" : "N";
}

Result<TrialSpec> startingPoint(const SpecOptions& options, const TrialSpec& base) {
    if (!options.preset.empty()) return preset(options.preset);
    if (!options.file.empty()) return trialSpecFromFile(options.file);
    return base;
}

}  // namespace

fs::path absolutePath(const fs::path& path) {
    std::error_code failed;
    const fs::path whole = path.empty() ? path : fs::absolute(path, failed);
    return path.empty() || failed ? path : fs::path(withoutLastSlash(whole.lexically_normal().string()));
}

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
    TrialSpec spec = start.value();
    std::vector<Problem> problems;
    const auto note = [&](std::optional<Problem> problem) {
        if (problem) problems.push_back(std::move(*problem));
    };
    note(recognise(spec, options, environment));
    for (const auto& [path, text] : options.given)
        note(writeSetting(spec, path, takesText(path) ? text : settingValue(path, text)));
    for (const auto& setting : options.settings) note(writeWord(spec, setting));
    if (!problems.empty()) return problems;
    spec.dataPath = absolutePath(spec.dataPath);
    spec.weights = absolutePath(spec.weights).string();
    return spec;
}

CLI::Option* addSetting(CLI::App& command, SpecOptions& options, std::string_view path, const std::string& help) {
    return addSetting(command, options, path, std::string(settingOption(path)), help);
}

CLI::Option* addSetting(CLI::App& command, SpecOptions& options, std::string_view path, const std::string& name,
                        const std::string& help) {
    const TrialField* field = findTrialField(path);
    const auto take = [&options, path = std::string(path)](const std::string& text) {
        options.given.emplace_back(path, text);
    };
    return command
        .add_option_function<std::string>(name, take, broken(help.empty() && field ? field->field.meaning : help))
        ->type_name(kindName(path, field));
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
    addSetting(command, options, "dataset", "A dataset by its id; `lockstep datasets` lists them");
    addSetting(command, options, kDataPath, "Where the data lies; its format is recognised unless --dataset says it");
}

void addModelOptions(CLI::App& command, SpecOptions& options) {
    addSetting(command, options, "model", "An architecture; `lockstep models` lists them");
    for (const char* path : {"devices", "batch", "precision", "mode", "accumulation", "recompute"})
        addSetting(command, options, path);
    addSetting(command, options, "optimizer", "One of: " + namesOf(updateRules()));
    addSetting(command, options, "average_decay");
    command
        .add_option(
            "--set", options.settings,
            broken("Any other setting, for example optimizer.momentum=0.95 model.width=256: model.* (`lockstep models "
                   "NAME` lists them), dataset.* (`lockstep datasets NAME`), augmentation.* (" +
                   namesOf(augmentationSchema()) + ")"))
        ->type_name("KEY=VALUE")
        ->take_all();
}

void addRunOptions(CLI::App& command, SpecOptions& options) {
    addSetting(command, options, "weights",
               "Start from these weights: a trial's best, or safetensors of a trial or of torchvision's networks")
        ->type_name("ID|FILE");
    for (const char* path : {"new_head", "frozen", "epochs", "learning_rate"}) addSetting(command, options, path);
    addSetting(command, options, "schedule", "One of: " + namesOf(schedules()));
    for (const char* path : {"label_smoothing", "seed", "title"}) addSetting(command, options, path);
}

}  // namespace lockstep
