#include <fmt/format.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/model_input.h"
#include "app/spec_options.h"
#include "engine/train/disk_need.h"
#include "engine/train/made_batch.h"
#include "engine/train/plan_run.h"

namespace lockstep {

namespace {

struct ProgramOptions {
    SpecOptions spec;
    InputOptions input;
    bool evaluation = false;
};

TrialSpec programDefaults() {
    TrialSpec spec;
    spec.dataset = {"synthetic", {}};
    return spec;
}

int program(Context& context, const ProgramOptions& options) {
    const auto spec = specFrom(options.spec, programDefaults(), context.environment());
    if (!spec.ok()) return context.report(spec.problems());
    const auto resolved = resolve(spec.value(), context.environment());
    if (!resolved.ok()) return context.report(resolved.problems());
    const auto input =
        inputFor(options.input, *resolved.value().model, resolved.value().modelParams, spec.value().batch);
    if (!input.ok()) return context.report(input.problems());
    // One full batch: no short ones to compile.
    const auto info = infoOf(resolved.value().model->task, input.value(), spec.value().batch);
    ResolvedSpec planned = resolved.value();
    context.choosePrecision(planned, info);
    const auto plan = planRun(planned, info, info);
    const auto& rank = plan.ranks.front();
    fmt::print("{}", dump(options.evaluation ? *rank.evaluation : *rank.training));
    const DiskNeed need = diskNeed(planned, plan);
    fmt::print("\ncheckpoint {}; keep_checkpoints={} keeps up to {}: {}\n", bytesText(need.each),
               resolved.value().spec.keepCheckpoints, need.kept, bytesText(need.bytesKept()));
    return kDone;
}

}  // namespace

void addProgram(CLI::App& root, Run& run) {
    const auto options = std::make_shared<ProgramOptions>();
    auto* command =
        root.add_subcommand("program", "The compiled program of rank 0: steps, lanes, layouts, buckets, memory");
    addSourceOptions(*command, options->spec);
    addModelOptions(*command, options->spec);
    addInputOptions(*command, options->input);
    command->add_flag("--evaluation", options->evaluation, "The program that evaluates, not the one that trains");
    command->footer(
        "\nExamples:\n  lockstep program --model lenet5 --devices cpu:2\n"
        "  lockstep program --model resnet18-cifar --devices cpu:1 --batch 64 --evaluation");
    command->callback([options, &run] { run = [options](Context& context) { return program(context, *options); }; });
}

}  // namespace lockstep
