#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/spec/trial_spec.h"
#include "engine/train/environment.h"

namespace lockstep {

// A trial as the command line states it. What is given goes over the preset or the file, and that over the defaults.
struct SpecOptions {
    std::string preset, file;
    std::optional<std::string> title, dataset, data, model, weights, newHead, frozen, devices, optimizer, schedule,
        mode, recompute, precision;
    std::optional<std::int64_t> batch, epochs, accumulation;
    std::optional<std::uint64_t> seed;
    std::optional<double> learningRate, labelSmoothing, averageDecay;
    std::vector<std::string> settings;  // "optimizer.momentum=0.95"
};

void addSourceOptions(CLI::App& command, SpecOptions& options);  // --preset, --spec
void addDataOptions(CLI::App& command, SpecOptions& options);    // --dataset, --data
void addModelOptions(CLI::App& command, SpecOptions& options);   // --model, --devices, --batch, --mode, --set …
void addRunOptions(CLI::App& command, SpecOptions& options);     // --weights, --frozen, --epochs, --lr …

// `base` is what nothing is said about. Problems: "cli.bad-set", "preset.unknown", those of the spec's reader, and
// "dataset.unrecognised" for --data without --dataset. Paths in the result are absolute.
Result<TrialSpec> specFrom(const SpecOptions& options, const TrialSpec& base, const Environment& environment);

std::vector<std::string> presetNames();
Result<TrialSpec> preset(const std::string& name);

}  // namespace lockstep
