#include <fmt/format.h>

#include "app/checkpoint_file.h"
#include "app/commands/commands.h"
#include "app/format.h"
#include "app/listing.h"
#include "app/made_folder.h"
#include "engine/train/export_weights.h"

namespace lockstep {

namespace {

constexpr const char* kTorchvision = "torchvision";

struct ExportWeightsOptions {
    std::string checkpoint, file, names = "lockstep";
    CheckpointChoice choice;
    bool averages = false, json = false;
};

int exportTo(Context& context, const ExportWeightsOptions& options) {
    const auto opened = openCheckpoint(options.checkpoint, options.choice);
    if (!opened.ok()) return context.report(opened.problems());
    const auto& [source, checkpoint] = opened.value();
    if (options.file == "-") return context.report({{"FILE", "export.weights-need-a-file", {}}});
    std::error_code absent;
    if (std::filesystem::equivalent(source.file, options.file, absent))
        return context.report({{options.file, "export.same-file", {}}});
    const WeightsExport request{options.names == kTorchvision, options.averages};
    MadeFolder made = MadeFolder::of(options.file);
    const auto written = exportWeights(checkpoint, context.environment(), request, options.file);
    if (!written.ok()) return context.report(written.problems());
    made.keep();
    const auto& [tensors, bytes] = written.value();
    if (options.json) {
        fmt::print("{}\n", lineOf({{"file", options.file},
                                   {"checkpoint", source.file.string()},
                                   {"names", options.names},
                                   {"tensors", tensors},
                                   {"bytes", bytes}}));
        return kDone;
    }
    fmt::print("{}: {} of {} after {}, {}, from {}\n", printable(options.file),
               plural(static_cast<std::int64_t>(tensors), "tensor"), printable(checkpoint.spec.model.id),
               plural(checkpoint.step, "update"), bytesText(bytes), printable(source.file.string()));
    return kDone;
}

constexpr const char* kExportWeightsHelp = R"(
The file has the parameters and the running statistics of batch norms, and no optimizer state. Its names are those of the
layers, as `lockstep models NAME` lists them, or torchvision's, for its ResNets and VGGs. "trained_on" in its metadata says
what the model must be given: size and channels of images, mean and deviation of their pixels of 0 to 1, classes.

Examples:
  lockstep export-weights 3 weights.safetensors
  lockstep export-weights 3 resnet18.safetensors --last --names torchvision
  lockstep train --preset fashion --weights weights.safetensors --new-head auto)";

}  // namespace

void addExportWeights(CLI::App& program, Run& run) {
    const auto options = std::make_shared<ExportWeightsOptions>();
    auto* command = program.add_subcommand("export-weights", "Write the weights of a checkpoint alone, as safetensors");
    addCheckpointSource(*command, options->checkpoint, options->choice);
    command->add_option("file", options->file, "Where to write; what is there is replaced")
        ->required()
        ->type_name("FILE");
    command->add_option("--names", options->names, "lockstep, or torchvision for its ResNets and VGGs")
        ->type_name("NAME")
        ->check(CLI::IsMember({"lockstep", kTorchvision}));
    command->add_flag("--averages", options->averages, "The averages of the weights, of a trial that kept them");
    command->add_flag("--json", options->json, "As JSON");
    command->footer(kExportWeightsHelp);
    command->callback([options, &run] { run = [options](Context& context) { return exportTo(context, *options); }; });
}

}  // namespace lockstep
