#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "app/checkpoint_file.h"
#include "app/commands/commands.h"
#include "app/number_checks.h"
#include "app/spec_options.h"
#include "app/train_run.h"

namespace lockstep {

namespace {

struct TrainOptions {
    SpecOptions spec;
    Output output;
    bool withoutHistory = false, onlySpec = false, queues = false;
    std::string out, from;
    ChangedData changedData = ChangedData::Refuse;
    std::int64_t queued = 0;  // a trial of the history; 0: a new one
    std::int64_t untilEpoch = 0;
};

constexpr const char* kTrainHelp = R"(
Examples:
  lockstep train --preset fashion
  lockstep train --dataset fashion-mnist --model lenet5 --devices cpu:2 --epochs 3
  lockstep train --data ~/data/cifar-10-batches-bin --model resnet18-cifar --batch 256
  lockstep train --spec trial.json --lr 0.05 --set optimizer.momentum=0.95
  lockstep train --preset fashion --print-spec > trial.json
  lockstep train --trial 7                   a queued trial, as its spec says

Ctrl+C stops after the current step, with a checkpoint; a second one ends at once.)";

int printSpec(Context& context, const TrialSpec& spec) {
    const auto problems = validate(spec, context.environment());
    if (!problems.empty()) return context.report(problems);
    std::fputs(toJson(spec).c_str(), stdout);
    return kDone;
}

int runWithoutHistory(Context& context, const TrainOptions& options, TrialSpec spec, std::optional<Checkpoint> from) {
    return watchRun(context, options.output, options.untilEpoch, [&](const Watcher& watcher) {
        return runPlainly({std::move(spec),
                           options.out,
                           std::move(from),
                           &watcher.control,
                           {&watcher.terminal},
                           watcher.onStuck,
                           options.changedData},
                          context.environment());
    });
}

bool saysWhatToTrain(const TrainOptions& options) {
    constexpr std::array<std::string_view, 3> kSayIt{"dataset.path", "dataset", "model"};
    const SpecOptions& spec = options.spec;
    const auto says = [&](const auto& given) { return std::ranges::find(kSayIt, given.first) != kSayIt.end(); };
    return !spec.preset.empty() || !spec.file.empty() || !options.from.empty() || !spec.settings.empty() ||
           std::ranges::any_of(spec.given, says);
}

Problem nothingToTrain(const TrialSpec& spec) {
    return {"", "cli.nothing-to-train", {spec.dataset.id, spec.model.id, spec.devices, std::to_string(spec.epochs)}};
}

int queueTrial(Context& context, const TrialSpec& spec, bool json) {
    const auto trial = addToQueue(spec, context.environment());
    if (!trial.ok()) return context.report(trial.problems());
    if (json) fmt::print("{{\"trial\":{}}}\n", trial.value());
    else
        fmt::print("Trial {} is in the queue: lockstep queue lists it, lockstep attach {} follows it.\n", trial.value(),
                   trial.value());
    return kDone;
}

int train(Context& context, const TrainOptions& options) {
    if (options.queued > 0) {
        return watchRun(context, options.output, options.untilEpoch, [&](const Watcher& watcher) {
            return runFromHistory({options.queued}, watcher, context.environment());
        });
    }
    std::optional<Checkpoint> from;
    TrialSpec base;
    if (!options.from.empty()) {
        auto opened = openCheckpoint(options.from, {false, namesTrial(options.from), {}});
        if (!opened.ok()) return context.report(opened.problems());
        from = std::move(opened).value().checkpoint;
        base = from->spec;
    }
    const auto said = withWeights(options.spec);
    if (!said.ok()) return context.report(said.problems());
    const auto spec = specFrom(said.value(), base, context.environment());
    if (!spec.ok()) return context.report(spec.problems());
    if (options.onlySpec) return printSpec(context, spec.value());
    if (!saysWhatToTrain(options)) return context.report({nothingToTrain(spec.value())});
    if (options.queues) return queueTrial(context, spec.value(), options.output.json);
    if (from || options.withoutHistory || !hasHistory() || !options.out.empty()) {
        return runWithoutHistory(context, options, spec.value(), std::move(from));
    }
    return watchRun(context, options.output, options.untilEpoch, [&](const Watcher& watcher) {
        return runIntoHistory(spec.value(), watcher, context.environment());
    });
}

// A queued trial has its spec; how it is told is a matter of the terminal.
void addQueuedOption(CLI::App& command, std::int64_t& trial) {
    auto* queued = command.add_option("--trial", trial, "Run this queued trial of the history, as its spec says")
                       ->type_name("ID")
                       ->check(atLeastOne());
    for (auto* other : command.get_options()) {
        constexpr std::array<std::string_view, 4> kGoWithIt{"--json", "--no-steps", "--until-epoch", "--help"};
        const auto goesWithIt = [&](std::string_view name) { return other->check_name(std::string(name)); };
        if (other != queued && std::ranges::none_of(kGoWithIt, goesWithIt)) queued->excludes(other);
    }
}

}  // namespace

void addTrain(CLI::App& program, Run& run) {
    const auto options = std::make_shared<TrainOptions>();
    auto* command = program.add_subcommand("train", "Train a model: from flags, a preset or a spec file");
    addSourceOptions(*command, options->spec);
    addDataOptions(*command, options->spec);
    addModelOptions(*command, options->spec);
    addRunOptions(*command, options->spec);
    addOutputOptions(*command, options->output);
    addUntilEpochOption(*command, options->untilEpoch);
    command->add_flag("--print-spec", options->onlySpec,
                      "Check and print the spec that these options mean, and train nothing");
    command->add_flag("--no-history", options->withoutHistory, "Leave the history alone");
    command->add_option("--out", options->out, "Without history: the folder for checkpoints")->type_name("FOLDER");
    auto* from =
        command->add_option("--from", options->from, "Without history: go on from this checkpoint, or a trial's last")
            ->type_name("FILE|ID");
    addChangedDataOption(*command, options->changedData)->needs(from);
    if (hasHistory())
        command->add_flag("--queue", options->queues, "Leave it to the queue, which runs it when there is room")
            ->excludes(from);
    if (hasHistory()) addQueuedOption(*command, options->queued);
    command->footer(kTrainHelp);
    command->callback([options, &run] { run = [options](Context& context) { return train(context, *options); }; });
}

}  // namespace lockstep
