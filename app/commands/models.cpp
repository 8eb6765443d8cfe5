#include <fmt/format.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/listing.h"
#include "app/model_input.h"

namespace lockstep {

namespace {

struct ModelsOptions {
    std::string name;
    InputOptions input;
    bool json = false;
};

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const auto& word : words) out += (out.empty() ? "" : ", ") + word;
    return out;
}

int listModels(Context& context, bool json) {
    if (json) {
        fmt::print("{}\n", jsonOf(offeredModels(context.environment())));
        return kDone;
    }
    Table table({"MODEL", "WHAT IT IS"});
    for (const auto& model : context.environment().models()) table.add({model.name, model.meaning});
    fmt::print("{}\nThe layers of one: lockstep models resnet18-cifar\n", table.text());
    return kDone;
}

std::string inputText(const ModelEntry& model, const ModelInput& input) {
    if (model.task != ModelTask::ImageClasses) return fmt::format("{} tokens", input.tokens);
    return fmt::format("{}x{}x{}", input.channels, input.height, input.width);
}

void printModel(const ModelEntry& model, const ModelInput& input, const Graph& forward) {
    fmt::print("{}: {}\nInput {}, {} classes, {} parameters\n\n", model.name, model.meaning, inputText(model, input),
               input.classes, countText(parameterCount(forward)));
    Table layers({"LAYER", "OPERATION", "OUTPUT", "PARAMETERS"});
    for (const auto& row : layerTable(forward)) {
        layers.add({row.name, row.op, row.output, row.parameters > 0 ? countText(row.parameters) : ""});
    }
    fmt::print("{}", layers.text());
    if (model.params.empty()) return;
    fmt::print("\n{}", settingsText("model", model.params));
}

int models(Context& context, const ModelsOptions& options) {
    if (options.name.empty()) return listModels(context, options.json);
    const auto* model = context.environment().model(options.name);
    if (!model) {
        std::vector<std::string> known;
        for (const auto& each : context.environment().models()) known.push_back(each.name);
        return context.report({{"model", "model.unknown", {options.name, joined(known)}}});
    }
    const auto input = inputFor(options.input, *model, ParamValues(model->params), 1);
    if (!input.ok()) return context.report(input.problems());
    const auto forward = buildForward(*model, ParamValues(model->params), input.value(), true);
    if (!forward.ok()) return context.report(forward.problems());
    if (options.json) {
        fmt::print("{}\n", lineOf({{"id", model->name},
                                   {"parameters", parameterCount(forward.value())},
                                   {"layers", layersJson(forward.value())},
                                   {"params", schemaJson(model->params)}}));
    } else {
        printModel(*model, input.value(), forward.value());
    }
    return kDone;
}

}  // namespace

void addModels(CLI::App& program, Run& run) {
    const auto options = std::make_shared<ModelsOptions>();
    auto* command = program.add_subcommand("models", "The architectures; with a name, its layers, sizes and settings");
    command->add_option("name", options->name, "A model")->type_name("NAME");
    addInputOptions(*command, options->input);
    command->add_flag("--json", options->json, "As JSON");
    command->footer("\nExamples:\n  lockstep models\n  lockstep models lenet5 --input 1x28x28");
    command->callback([options, &run] { run = [options](Context& context) { return models(context, *options); }; });
}

}  // namespace lockstep
