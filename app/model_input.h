#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "engine/model/registry.h"

namespace lockstep {

// The image or the text that a model is asked about when no dataset is at hand.
struct InputOptions {
    // "3x32x32", or of a text its tokens, "128"; empty: what is usual for the model.
    std::string shape;
    std::optional<int> classes;
};
void addInputOptions(CLI::App& command, InputOptions& options);

// Problems: "cli.bad-input".
Result<ModelInput> inputFor(const InputOptions& options, const ModelEntry& model, const ParamValues& params,
                            std::int64_t batch);

}  // namespace lockstep
