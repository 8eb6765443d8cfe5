#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/spec/trial_spec.h"
#include "engine/train/environment.h"

namespace lockstep {

// A trial as the command line states it. What is given goes over the preset or the file, and that over the defaults.
struct SpecOptions {
    std::string preset, file;
    std::vector<std::pair<std::string, std::string>> given;  // by options of their own: {"learning_rate", "0.05"}
    std::vector<std::string> settings;                       // "optimizer.momentum=0.95"
};

// An option for the setting at `path`, by its usual name; `help`: in place of the setting's meaning. `options` must
// outlive the command.
CLI::Option* addSetting(CLI::App& command, SpecOptions& options, std::string_view path, const std::string& help = {});
CLI::Option* addSetting(CLI::App& command, SpecOptions& options, std::string_view path, const std::string& name,
                        const std::string& help);

void addSourceOptions(CLI::App& command, SpecOptions& options);  // --preset, --spec
void addDataOptions(CLI::App& command, SpecOptions& options);    // --dataset, --data
void addModelOptions(CLI::App& command, SpecOptions& options);   // --model, --devices, --batch, --mode, --set …
void addRunOptions(CLI::App& command, SpecOptions& options);     // --weights, --frozen, --epochs, --lr …

// `base` is what nothing is said about. Problems: "cli.bad-set", "preset.unknown", those of writeSetting(), and
// "dataset.unrecognised" for --data without --dataset. Paths in the result are absolute.
Result<TrialSpec> specFrom(const SpecOptions& options, const TrialSpec& base, const Environment& environment);

std::filesystem::path absolutePath(const std::filesystem::path& path);  // no slash at its end; an empty one stays so

std::vector<std::string> presetNames();
Result<TrialSpec> preset(const std::string& name);

}  // namespace lockstep
