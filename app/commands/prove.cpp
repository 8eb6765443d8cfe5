#include "engine/train/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/listing.h"
#include "app/plain_run.h"
#include "app/spec_options.h"
#include "engine/train/open_data.h"

namespace lockstep {

namespace {

constexpr std::size_t kMostLayers = 10;

struct ProveOptions {
    SpecOptions spec;
    std::int64_t updates = 10;
    std::string breaks;
    bool json = false;
};

// Without a word about data they are made up, like those of bench.
TrialSpec proveDefaults() {
    TrialSpec spec;
    spec.dataset = {"synthetic", {}};
    return spec;
}

std::vector<std::string> breakNames() {
    std::vector<std::string> names;
    for (const ProofBreak how : kProofBreaks) names.emplace_back(text(how));
    return names;
}

// "1.3e-07"; what is not a number is no distance.
std::string differenceText(double value) {
    if (value == 0) return "0";
    return std::isfinite(value) ? fmt::format("{:.1e}", value) : "not finite";
}

void printHead(const ResolvedSpec& resolved, const std::optional<ProofBreak>& how, std::int64_t askedBatch) {
    const auto& spec = resolved.spec;
    fmt::print("{} on {}, batch {}, {}, {} mode: one device beside {}{}\n", spec.model.id, spec.dataset.id, spec.batch,
               spec.precision, spec.mode, spec.devices, how ? fmt::format(", broken on purpose: {}", text(*how)) : "");
    if (spec.batch != askedBatch)
        fmt::print("A batch of {} instead of {}, because averages of equally large parts are right.\n", spec.batch,
                   askedBatch);
    fmt::print(
        "Every update is judged from the weights of one device. DRIFT is how far the weights of {} devices,\n"
        "left to themselves, have come away from them; it is not judged.\n\n",
        resolved.devices.size());
    fmt::print("UPDATE  SAMPLES  LOSS ON 1  {:>9}    DRIFT  TRIES  GRADIENT OFF  ALLOWED\n",
               fmt::format("LOSS ON {}", resolved.devices.size()));
    std::fflush(stdout);
}

void printProveUpdate(const UpdateProof& update) {
    const auto& worst = worstOf(update.judged.gradients);
    fmt::print("{:>6}  {:>7}  {:>9.6f}  {:>9.6f}  {:>7}  {:>5}  {:>12}  {:>7}  {}\n", update.update, update.samples,
               update.loss, update.drifting.loss, differenceText(update.drifting.distance), update.tries,
               differenceText(worst.value), differenceText(worst.allowed), worst.value > 0 ? worst.name : "");
    std::fflush(stdout);
}

void printLayers(const UpdateProof& update) {
    auto layers = update.judged.gradients;
    std::ranges::stable_sort(layers, std::greater(), &TensorDifference::value);
    const auto shown = std::min(layers.size(), kMostLayers);
    Table table({"GRADIENT OF", "OFF", "ALLOWED"});
    for (std::size_t i = 0; i < shown; ++i)
        table.add({layers[i].name, differenceText(layers[i].value), differenceText(layers[i].allowed)});
    fmt::print("\nUpdate {}, layer by layer:\n{}", update.update, table.text());
    if (layers.size() > shown) fmt::print("… and {} more\n", layers.size() - shown);
}

std::string toleranceText(const Tolerance& tolerance) {
    if (tolerance.bitwise) return "The run is reproducible, so not a bit may differ.";
    const std::string products =
        tolerance.roundsProducts()
            ? fmt::format(
                  "Algorithms are those of the rule, not what is fastest here. Which products are rounded to {}\n"
                  "may depend on how many samples a device has: {:g} times what one device differs from itself by\n"
                  "in fp32 is ALLOWED, too. Behind many norms rounding alone may change a gradient by as much as it "
                  "is\n"
                  "large: where 1 or more is ALLOWED nothing is said of that tensor, and the others decide.\n",
                  text(tolerance.precision), Tolerance::kRoundings)
            : "";
    return products +
           fmt::format(
               "Sums of {} round differently in another order: {} of the largest element is ALLOWED, or, where\n"
               "terms cancel, {:g} times what one device differs from itself by with its samples in reverse order.\n"
               "A last bit may also decide on which side of a ReLU or a maximum a value falls: what differs is\n"
               "judged again from equal weights nearby, up to {} TRIES.",
               text(tolerance.computed), differenceText(tolerance.relative), Tolerance::kRoundings, Tolerance::kTries);
}

std::string verdict(const Proof& proof) {
    const auto worst = proof.worst();
    const auto what =
        fmt::format("{} is off by {} of its largest element in update {}, where {} is allowed", worst.tensor.name,
                    differenceText(worst.tensor.value), worst.update, differenceText(worst.tensor.allowed));
    if (!proof.equal()) return fmt::format("NOT EQUAL: {}.", what);
    const std::string updates = plural(std::ssize(proof.updates), "update");
    if (proof.tolerance.bitwise)
        return fmt::format("EQUAL: {} on {} devices, to the bit as on one.", updates, proof.devices);
    return fmt::format("EQUAL: {} on {} devices, as on one; at worst {}.", updates, proof.devices, what);
}

void printProveVerdict(const Proof& proof, const Words& words) {
    printLayers(proof.updates.back());
    fmt::print("\n{}\n\n{}\n", toleranceText(proof.tolerance), verdict(proof));
    if (proof.cause) fmt::print("{}\n  → {}\n", words.what(*proof.cause), words.remedy(*proof.cause));
}

Json differencesJson(const std::vector<TensorDifference>& differences) {
    Json rows = Json::array();
    for (const auto& each : differences) {
        rows.push_back(
            {{"name", each.name}, {"difference", each.value}, {"allowed", each.allowed}, {"same_bits", each.sameBits}});
    }
    return rows;
}

Json updateJson(const UpdateProof& update) {
    return {{"update", update.update},
            {"epoch", update.epoch},
            {"samples", update.samples},
            {"equal", update.equal},
            {"tries", update.tries},
            {"loss_on_one", update.loss},
            {"loss", update.drifting.loss},
            {"drift", update.drifting.distance},
            {"same_bits", update.judged.sameBits()},
            {"gradients", differencesJson(update.judged.gradients)},
            {"statistics", differencesJson(update.judged.statistics)}};
}

Json proofJson(const Proof& proof, const ResolvedSpec& resolved, const ProveOptions& options, const Words& words) {
    Json updates = Json::array();
    for (const auto& update : proof.updates) updates.push_back(updateJson(update));
    const auto worst = proof.worst();
    return {{"equal", proof.equal()},
            {"verdict", verdict(proof)},
            {"model", resolved.spec.model.id},
            {"dataset", resolved.spec.dataset.id},
            {"devices", resolved.spec.devices},
            {"device_count", proof.devices},
            {"mode", resolved.spec.mode},
            {"precision", resolved.spec.precision},
            {"batch", resolved.spec.batch},
            {"batch_norm", proof.batchNorm},
            {"break", options.breaks},
            {"bitwise", proof.tolerance.bitwise},
            {"tolerance", proof.tolerance.bitwise ? 0 : proof.tolerance.relative},
            {"worst",
             {{"update", worst.update},
              {"name", worst.tensor.name},
              {"difference", worst.tensor.value},
              {"allowed", worst.tensor.allowed}}},
            {"problems", problemsJson(proof.cause ? std::vector{*proof.cause} : std::vector<Problem>(), words)},
            {"updates", std::move(updates)}};
}

Result<ResolvedSpec> resolvedFor(const TrialSpec& spec, const std::optional<ProofBreak>& how,
                                 const Environment& environment) {
    auto resolved = resolve(spec, environment);
    if (!resolved.ok() || !how) return resolved;
    TrialSpec shown = spec;
    shown.batch = batchShowing(*how, resolved.value());
    return shown.batch == spec.batch ? resolved : resolve(shown, environment);
}

int prove(Context& context, const ProveOptions& options) {
    const auto how = proofBreakFrom(options.breaks);
    const auto spec = specFrom(options.spec, proveDefaults(), context.environment());
    if (!spec.ok()) return context.report(spec.problems());
    const auto resolved = resolvedFor(spec.value(), how, context.environment());
    if (!resolved.ok()) return context.report(resolved.problems());
    const auto data = openData(resolved.value());
    if (!data.ok()) return context.report(data.problems());
    ResolvedSpec proven = resolved.value();
    context.choosePrecision(proven, data.value().train->info());
    ProofRequest request{proven, data.value(), options.updates, how, {}};
    if (!options.json) {
        request.onUpdate = [&](const UpdateProof& update) {
            if (update.update == 1) printHead(proven, how, spec.value().batch);
            printProveUpdate(update);
        };
    }
    const Proof proof = lockstep::prove(request);
    if (options.json) fmt::print("{}\n", lineOf(proofJson(proof, proven, options, context.words())));
    else printProveVerdict(proof, context.words());
    return proof.equal() ? kDone : kFailed;
}

}  // namespace

void addProve(CLI::App& program, Run& run) {
    const auto options = std::make_shared<ProveOptions>();
    auto* command = program.add_subcommand(
        "prove", "Whether several devices train as one does: the same batches on both, every gradient compared");
    addSourceOptions(*command, options->spec);
    addDataOptions(*command, options->spec);
    addModelOptions(*command, options->spec);
    addSetting(*command, options->spec, "seed");
    command->add_option("--updates", options->updates, "Updates to compare")
        ->type_name("N")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    command
        ->add_option("--break", options->breaks,
                     "Get it wrong on purpose: local-norm, no-divide, average-of-averages, double-count")
        ->type_name("NAME")
        ->check(CLI::IsMember(breakNames()));
    command->add_flag("--json", options->json, "One JSON object");
    command->footer(
        "\nExamples:\n  lockstep prove --model lenet5 --devices cpu:2\n"
        "  lockstep prove --preset fashion --set batch_norm=synchronised\n"
        "  lockstep prove --preset fashion --mode reproducible --devices cpu:4\n"
        "  lockstep prove --model lenet5 --devices cpu:2 --break no-divide\n\n"
        "Exit status: 0 only when they are equal, 1 when they are not.");
    command->callback([options, &run] { run = [options](Context& context) { return prove(context, *options); }; });
}

}  // namespace lockstep
