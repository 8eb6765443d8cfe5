#include "engine/train/check_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/listing.h"
#include "app/model_input.h"
#include "app/number_checks.h"
#include "app/spec_options.h"

namespace lockstep {

namespace {

constexpr std::int64_t kSlopeSamples = 4, kMemorisedSamples = 64, kUpdatesPerLine = 25;

// A gradient is as right for short texts as for long ones, and noise is learnt by heart sooner.
constexpr int kUsualTokens = 32;

struct CheckOptions {
    SpecOptions spec;
    InputOptions input;
    double seconds = 60;
    std::int64_t updates = 2000;
    bool json = false;
};

// Adam suits any model without a search for a learning rate; with 0.001 VGG-19 without norms never starts to learn.
TrialSpec memoriseDefaults() {
    TrialSpec spec;
    spec.dataset = {"synthetic", {}};
    spec.devices = "cpu:1";
    spec.optimizer = {"adamw", {}};
    spec.learningRate = 0.0003;
    spec.batch = kMemorisedSamples;
    return spec;
}

TrialSpec exact(TrialSpec spec) {
    spec.devices = "reference:1";
    spec.batch = kSlopeSamples;
    spec.precision = text(Precision::Fp32);  // which the reference computes in double precision
    return spec;
}

std::string nameOf(const SlopeCheck& slope) {
    return slope.parameter.empty() ? "all parameters together" : slope.parameter;
}

void printSlope(const SlopeCheck& slope) {
    fmt::print("{:<40}  {:>7.1e}  {:>7.1e}{}\n", nameOf(slope), slope.along, slope.across,
               slope.holds ? "" : "  WRONG");
    std::fflush(stdout);
}

void printCheckUpdate(const MemorisedBatch& now) {
    if (now.updates % kUpdatesPerLine != 0 && !now.isMemorised()) return;
    fmt::print("{:>6}  {:>9.6f}  {:>8}\n", now.updates, now.loss, percentText(now.accuracy));
    std::fflush(stdout);
}

struct Findings {
    std::vector<SlopeCheck> slopes;
    MemorisedBatch memorised;
    std::vector<Problem> problems;
};

std::vector<Problem> problemsOfCheck(const Findings& found, const TrialSpec& spec) {
    std::vector<Problem> problems;
    const auto wrong = std::ranges::find(found.slopes, false, &SlopeCheck::holds);
    if (wrong != found.slopes.end())
        problems.push_back({nameOf(*wrong),
                            "check.gradient",
                            {fmt::format("{:.1e}", std::max(wrong->along, wrong->across)),
                             std::to_string(std::ranges::count(found.slopes, false, &SlopeCheck::holds))}});
    if (!found.memorised.isMemorised())
        problems.push_back({spec.model.id,
                            "check.not-memorised",
                            {std::to_string(spec.batch), percentText(found.memorised.accuracy),
                             std::to_string(found.memorised.updates), fmt::format("{}", spec.learningRate)}});
    return problems;
}

void printSlopesHead(const TrialSpec& spec) {
    fmt::print("{}: gradients beside the slopes of the loss, in double precision, {} samples\n\n", spec.model.id,
               kSlopeSamples);
    fmt::print("{:<40}  {:>7}  {:>7}\n", "GRADIENT OF", "ALONG", "ACROSS");
}

void printMemoryHead(const Findings& found, const TrialSpec& spec) {
    fmt::print("\n{:g} is allowed; {} parameters were looked at one by one.\n\n", SlopeCheck::kAllowed,
               found.slopes.size() - 1);
    fmt::print("Learning {} samples of noise by heart on {}\n\nUPDATE       LOSS  ACCURACY\n", spec.batch,
               spec.devices);
}

void printCheckVerdict(const Findings& found, const TrialSpec& spec, const Words& words) {
    if (found.problems.empty())
        fmt::print("\nRIGHT: the gradients are the slopes, and all {} samples are known after {}.\n", spec.batch,
                   plural(found.memorised.updates, "update"));
    for (const Problem& problem : found.problems)
        fmt::print("\nWRONG: {}\n  → {}\n", words.what(problem), words.remedy(problem));
}

Json findingsJson(const Findings& found, const TrialSpec& spec, const Words& words) {
    Json slopes = Json::array();
    for (const SlopeCheck& each : found.slopes)
        slopes.push_back(
            {{"parameter", nameOf(each)}, {"along", each.along}, {"across", each.across}, {"holds", each.holds}});
    return {{"model", spec.model.id},
            {"passes", found.problems.empty()},
            {"gradients", std::move(slopes)},
            {"allowed", SlopeCheck::kAllowed},
            {"memorised",
             {{"samples", spec.batch},
              {"updates", found.memorised.updates},
              {"loss", found.memorised.loss},
              {"accuracy", found.memorised.accuracy}}},
            {"problems", problemsJson(found.problems, words)}};
}

int check(Context& context, const CheckOptions& options) {
    const auto spec = specFrom(options.spec, memoriseDefaults(), context.environment());
    if (!spec.ok()) return context.report(spec.problems());
    const auto trained = resolve(spec.value(), context.environment());
    if (!trained.ok()) return context.report(trained.problems());
    const auto input = inputFor(options.input, *trained.value().model, trained.value().modelParams, spec.value().batch);
    if (!input.ok()) return context.report(input.problems());
    ModelInput samples = input.value();
    if (options.input.shape.empty()) samples.tokens = std::min(samples.tokens, kUsualTokens);
    const auto judged = resolve(exact(spec.value()), context.environment());
    if (!judged.ok()) return context.report(judged.problems());

    const bool prints = !options.json;
    Findings found;
    if (prints) printSlopesHead(spec.value());
    found.slopes = checkSlopes({judged.value(), samples, options.seconds, prints ? printSlope : nullptr});
    if (prints) printMemoryHead(found, spec.value());
    found.memorised = memorise({trained.value(), samples, options.updates, prints ? printCheckUpdate : nullptr});
    found.problems = problemsOfCheck(found, spec.value());
    if (prints) printCheckVerdict(found, spec.value(), context.words());
    else fmt::print("{}\n", lineOf(findingsJson(found, spec.value(), context.words())));
    return found.problems.empty() ? kDone : kFailed;
}

}  // namespace

void addCheck(CLI::App& program, Run& run) {
    const auto options = std::make_shared<CheckOptions>();
    auto* command =
        program.add_subcommand("check", "Whether a model's gradients are right, and whether it can learn at all");
    addSetting(*command, options->spec, "model", "model", "As lockstep models lists them")
        ->type_name("MODEL")
        ->required();
    addInputOptions(*command, options->input);
    addSetting(*command, options->spec, "devices", "One device to learn on; cpu:1 unless given")->type_name("DEVICE");
    addSetting(*command, options->spec, "batch", "Samples to learn by heart; 64 unless given");
    addSetting(*command, options->spec, "learning_rate", "The learning rate; 0.0003 unless given");
    command->add_option("--set", options->spec.settings, "Single settings, like model.width=64")
        ->type_name("KEY=VALUE");
    addSetting(*command, options->spec, "seed");
    command->add_option("--seconds", options->seconds, "No further gradient is begun after so long; 0: all of them")
        ->type_name("S")
        ->check(notNegative())
        ->capture_default_str();
    command->add_option("--updates", options->updates, "At most so many to learn them in")
        ->type_name("N")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    command->add_flag("--json", options->json, "One JSON object");
    command->footer(
        "\nExamples:\n  lockstep check lenet5\n  lockstep check gpt --set model.layers=2 model.width=64\n"
        "  lockstep check resnet18-cifar --input 3x16x16\n"
        "  lockstep check mlp --set model.width=64 --seconds 0\n\n"
        "Exit status: 0 only when both hold, 1 when one does not.");
    command->callback([options, &run] { run = [options](Context& context) { return check(context, *options); }; });
}

}  // namespace lockstep
