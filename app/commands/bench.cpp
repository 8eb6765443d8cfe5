#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/listing.h"
#include "app/measured_precision.h"
#include "app/model_input.h"
#include "app/spec_options.h"
#include "engine/train/loader_benchmark.h"
#include "engine/train/open_data.h"
#include "engine/train/trainer.h"

namespace lockstep {

namespace {

struct BenchOptions {
    SpecOptions spec;
    InputOptions input;
    std::int64_t steps = 20, warmup = 3;
    bool inference = false, json = false, loader = false;
    double seconds = 5;
};

// The data are made up, so the spec's dataset is the one that needs no files.
TrialSpec benchDefaults() {
    TrialSpec spec;
    spec.dataset = {"synthetic", {}};
    spec.devices = "cpu:1";
    spec.epochs = 1;
    return spec;
}

bool anyVirtual(const std::vector<DeviceChoice>& devices) {
    for (const auto& device : devices) {
        if (device.isVirtual) return true;
    }
    return false;
}

double gigaflops(const BenchResult& result) {
    return result.flops * static_cast<double>(result.steps) / result.seconds * 1e-9;
}

// Resident, in bytes.
std::uint64_t peakMemory() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void printResult(const ResolvedSpec& resolved, const BenchResult& result) {
    const auto& spec = resolved.spec;
    fmt::print("{}, batch {}, {}, {} ({}{}): {} in {}\n", spec.model.id, spec.batch, spec.precision, spec.devices,
               plural(std::ssize(resolved.devices), "device"), anyVirtual(resolved.devices) ? ", virtual" : "",
               plural(result.steps, "step"), durationText(result.seconds));
    if (result.carried > 0)
        fmt::print("simulated links     {} per step, of which {} were waited for\n", durationText(result.carried),
                   durationText(result.reduce));
    fmt::print("samples per second  {:.1f}\nGFLOP per second    {:.1f}, in convolutions and products of matrices\n",
               result.samplesPerSecond, gigaflops(result));
    fmt::print("memory              {} at most, of this process\n", bytesText(peakMemory()));
    fmt::print("loss                {:.6f} (first step {:.6f})\n", result.loss, result.firstLoss);
}

Json resultJson(const ResolvedSpec& resolved, const BenchResult& result) {
    const auto& spec = resolved.spec;
    return {{"model", spec.model.id},
            {"batch", spec.batch},
            {"precision", spec.precision},
            {"devices", spec.devices},
            {"device_count", resolved.devices.size()},
            {"virtual_devices", anyVirtual(resolved.devices)},
            {"steps", result.steps},
            {"seconds", result.seconds},
            {"first_loss", result.firstLoss},
            {"loss", result.loss},
            {"compute_seconds", result.compute},
            {"reduce_seconds", result.reduce},
            {"link_seconds", result.carried},
            {"flops_per_step", result.flops},
            {"peak_bytes", peakMemory()},
            {"device_bytes", result.deviceBytes},
            {"samples_per_second", result.samplesPerSecond}};
}

void printLoader(const ResolvedSpec& resolved, const DatasetSplits& data, const LoaderBench& bench) {
    const double samples = static_cast<double>(std::max<std::int64_t>(bench.samples, 1)), threads = bench.threads;
    const auto rate = [&](std::int64_t bytes) {
        return static_cast<double>(bytes) / bench.seconds / threads / (1 << 20);
    };
    fmt::print("{} of {}, batch {}, {}: {} in {}\n", resolved.spec.dataset.id, text(data.train->info().fields),
               resolved.spec.batch, plural(bench.threads, "loader thread"), plural(bench.samples, "sample"),
               durationText(bench.seconds));
    fmt::print("samples per second  {:.1f}, {:.1f} of each thread\n", bench.samplesPerSecond(),
               bench.samplesPerSecond() / threads);
    fmt::print("MiB per second      {:.1f} made by each thread", rate(bench.bytesMade));
    if (bench.bytesRead > 0) fmt::print(", of {:.1f} read from files", rate(bench.bytesRead));
    fmt::print("\na sample takes      {:.3g} ms of a thread:", 1e3 * threads * bench.seconds / samples);
    const std::pair<const char*, double> parts[] = {{"reading", bench.read},
                                                    {"decoding", bench.decode},
                                                    {"scaling", bench.scale},
                                                    {"augmenting", bench.augment},
                                                    {"copying and waiting", bench.rest}};
    const char* before = " ";
    for (const auto& [name, seconds] : parts) {
        if (seconds <= 0) continue;
        fmt::print("{}{} {:.0f} %", before, name, 100 * seconds / (threads * bench.seconds));
        before = ", ";
    }
    fmt::print("\n");
    if (bench.unreadable > 0) fmt::print("{} could not be read\n", plural(bench.unreadable, "image"));
}

Json loaderJson(const ResolvedSpec& resolved, const LoaderBench& bench) {
    return {{"dataset", resolved.spec.dataset.id},
            {"batch", resolved.spec.batch},
            {"loader_threads", bench.threads},
            {"samples", bench.samples},
            {"seconds", bench.seconds},
            {"samples_per_second", bench.samplesPerSecond()},
            {"bytes_read", bench.bytesRead},
            {"bytes_made", bench.bytesMade},
            {"read_seconds", bench.read},
            {"decode_seconds", bench.decode},
            {"scale_seconds", bench.scale},
            {"augment_seconds", bench.augment},
            {"copy_seconds", bench.rest},
            {"unreadable", bench.unreadable}};
}

// Loading alone: no model runs beside it.
int benchLoader(Context& context, const ResolvedSpec& resolved, const BenchOptions& options) {
    const auto data = openData(resolved);
    if (!data.ok()) return context.report(data.problems());
    const LoaderBench bench = benchmarkLoader(resolved, data.value(), options.seconds);
    if (options.json) fmt::print("{}\n", lineOf(loaderJson(resolved, bench)));
    else printLoader(resolved, data.value(), bench);
    return kDone;
}

void printSpeeds(const ChosenPrecision& chosen, bool inference, const Words& words) {
    fmt::print("{} {}\n", words.what(chosen.words), words.remedy(chosen.words));
    for (const PrecisionSpeed& each : chosen.speeds)
        fmt::print("{} in {}: {:.1f} samples per second, {:.2f} times fp32\n", inference ? "answering" : "training",
                   text(each.precision), each.samplesPerSecond,
                   each.samplesPerSecond / chosen.speeds.front().samplesPerSecond);
    std::fflush(stdout);
}

int bench(Context& context, const BenchOptions& options) {
    const auto spec = specFrom(options.spec, benchDefaults(), context.environment());
    if (!spec.ok()) return context.report(spec.problems());
    const auto resolved = resolve(spec.value(), context.environment());
    if (!resolved.ok()) return context.report(resolved.problems());
    if (options.loader) return benchLoader(context, resolved.value(), options);
    const auto input =
        inputFor(options.input, *resolved.value().model, resolved.value().modelParams, spec.value().batch);
    if (!input.ok()) return context.report(input.problems());
    ResolvedSpec timed = resolved.value();
    const auto chosen =
        choosePrecisionShown(timed, input.value(), {.seconds = options.seconds, .inference = options.inference});
    if (chosen && !options.json) printSpeeds(*chosen, options.inference, context.words());
    const auto result = benchmark({.resolved = timed,
                                   .input = input.value(),
                                   .steps = options.steps,
                                   .warmup = options.warmup,
                                   .inference = options.inference});
    if (!options.json) {
        printResult(timed, result);
        if (result.ofPrecision) fmt::print(stderr, "{}", context.words().report({*result.ofPrecision}));
        return kDone;
    }
    Json json = resultJson(timed, result);
    std::vector<Problem> remarks;
    if (result.ofPrecision) remarks.push_back(*result.ofPrecision);
    json["remarks"] = problemsJson(remarks, context.words());
    for (const PrecisionSpeed& each : chosen ? chosen->speeds : std::vector<PrecisionSpeed>())
        json["precisions"][std::string(text(each.precision))] = each.samplesPerSecond;
    fmt::print("{}\n", lineOf(json));
    return kDone;
}

}  // namespace

void addBench(CLI::App& program, Run& run) {
    const auto options = std::make_shared<BenchOptions>();
    auto* command = program.add_subcommand("bench", "The speed of training's own program on data that lie in memory");
    addDataOptions(*command, options->spec);
    addModelOptions(*command, options->spec);
    addInputOptions(*command, options->input);
    addSetting(*command, options->spec, "seed");
    command->add_option("--steps", options->steps, "Steps to time")
        ->type_name("K")
        ->check(CLI::Range(1, 1000000000))
        ->capture_default_str();
    command->add_option("--warmup", options->warmup, "Steps before them")
        ->type_name("K")
        ->check(CLI::Range(0, 1000000000))
        ->capture_default_str();
    command->add_flag("--inference", options->inference, "Evaluation's program: forward alone, running statistics");
    command->add_flag("--loader", options->loader, "Loading alone: batches of --dataset, made as training has them");
    command
        ->add_option("--seconds", options->seconds, "How long to load, or to try each precision with --precision auto")
        ->type_name("S")
        ->check(CLI::Range(0.1, 3600.0))
        ->capture_default_str();
    command->add_flag("--json", options->json, "One JSON object");
    command->footer(
        "\nExamples:\n  lockstep bench --model resnet18-cifar --batch 128 --devices cpu:1 --steps 10\n"
        "  lockstep bench --model lenet5 --batch 256 --devices cpu:2x1 --steps 200 --json\n"
        "  lockstep bench --loader --dataset fashion-mnist --model lenet5 --batch 128\n\n"
        "cpu:1 is one device with all cores; cpu:2 shares them between two.");
    command->callback([options, &run] { run = [options](Context& context) { return bench(context, *options); }; });
}

}  // namespace lockstep
