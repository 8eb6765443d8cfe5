#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/listing.h"
#include "app/number_checks.h"
#include "app/train_run.h"
#include "engine/train/find_batch.h"
#include "engine/train/memory_need.h"
#include "engine/train/open_data.h"

namespace lockstep {

namespace {

constexpr std::int64_t kFirstPerPass = 8;  // samples; with fewer, nothing but the calls is timed

struct FindBatchOptions {
    SpecOptions spec;
    std::int64_t doublings = 8;
    double seconds = 1;
    bool json = false, events = false;
};

constexpr const char* kFindBatchHelp = R"(
The largest batch is found by planning, by the memory that is free just now. Speeds are measured on made-up samples of the
data's shape, with a batch that doubles until two more doublings bring less than a twentieth. The suggestion is the
smallest batch with at least 90 % of the best speed: larger ones make fewer updates of the same samples.

Examples:
  lockstep find-batch --preset fashion
  lockstep find-batch --data ~/photos --model resnet18 --devices cpu:2x1 --doublings 4
  lockstep find-batch --model gpt --dataset text --data notes.txt --seconds 5 --json)";

// Without a word about data they are made up, like those of bench.
TrialSpec findBatchDefaults() {
    TrialSpec spec;
    spec.dataset = {"synthetic", {}};
    return spec;
}

std::vector<std::int64_t> samplesByDevice(const ResolvedSpec& resolved, std::int64_t batch) {
    const Partition partition = partitionOf(resolved);
    std::vector<std::int64_t> samples;
    for (int rank = 0; rank < partition.world(); ++rank) samples.push_back(partition.share(batch, rank).count);
    return samples;
}

// "64", or of unequal devices "86, 42".
std::string perDeviceText(const ResolvedSpec& resolved, std::int64_t batch) {
    auto samples = samplesByDevice(resolved, batch);
    if (std::ranges::count(samples, samples.front()) == std::ssize(samples)) samples.resize(1);
    std::string text;
    for (const std::int64_t each : samples) text += (text.empty() ? "" : ", ") + countText(each);
    return text;
}

struct FoundBatches {
    std::int64_t largest = 0, samples = 0;  // samples: of the training split
    std::vector<BatchSpeed> speeds;
};

// Why not even the smallest batch fits. Empty: it does by now.
std::optional<Problem> whyNoneFits(ResolvedSpec resolved, const DatasetInfo& train, const DatasetInfo& test) {
    resolved.spec.batch = leastBatch(resolved);
    return shortOfMemory(resolved, planRun(resolved, train, test), train, test);
}

void printSpeed(const ResolvedSpec& resolved, const BatchSpeed& speed) {
    fmt::print("{:>8}  {:>10}  {:>12.1f}\n", speed.batch, perDeviceText(resolved, speed.batch), speed.samplesPerSecond);
    std::fflush(stdout);
}

Json speedJson(const ResolvedSpec& resolved, const BatchSpeed& speed) {
    return {{"batch", speed.batch},
            {"per_device", samplesByDevice(resolved, speed.batch)},
            {"samples_per_second", speed.samplesPerSecond}};
}

// Whoever looks on has it at once.
void printBatchEvent(const char* name, const Json& said) {
    Json event;
    event["event"] = name;
    event.update(said);
    fmt::print("{}\n", lineOf(event));
    std::fflush(stdout);
}

bool fitsAll(const ResolvedSpec& resolved, const FoundBatches& found) {
    return found.largest + leastBatch(resolved) > found.samples;
}

std::int64_t firstBatch(const ResolvedSpec& resolved, const FoundBatches& found) {
    return std::min(found.largest, kFirstPerPass * leastBatch(resolved));
}

// How many are timed, unless they flatten before.
std::int64_t mostTimed(const ResolvedSpec& resolved, const FindBatchOptions& options, const FoundBatches& found) {
    std::int64_t count = 1;
    for (std::int64_t batch = firstBatch(resolved, found); count <= options.doublings; ++count, batch *= 2)
        if (2 * batch > found.largest) break;
    return count;
}

void printPlanned(const ResolvedSpec& resolved, const FindBatchOptions& options, const FoundBatches& found) {
    printBatchEvent("batches_planned", {{"largest_batch", found.largest},
                                        {"largest_per_device", samplesByDevice(resolved, found.largest)},
                                        {"training_samples", found.samples},
                                        {"all_samples_fit", fitsAll(resolved, found)},
                                        {"batches_at_most", mostTimed(resolved, options, found)}});
}

void tellSpeed(const ResolvedSpec& resolved, const FindBatchOptions& options, const BatchSpeed& speed) {
    if (!options.json) printSpeed(resolved, speed);
    if (options.events) printBatchEvent("batch_timed", speedJson(resolved, speed));
}

void measureSpeeds(const ResolvedSpec& resolved, const DatasetInfo& train, const FindBatchOptions& options,
                   FoundBatches& found) {
    std::int64_t batch = firstBatch(resolved, found);
    for (std::int64_t doubled = 0; doubled <= options.doublings && batch <= found.largest; ++doubled, batch *= 2) {
        found.speeds.push_back(timeBatch(resolved, train, batch, options.seconds));
        tellSpeed(resolved, options, found.speeds.back());
        if (hasFlattened(found.speeds)) return;
    }
}

void printFoundHead(const ResolvedSpec& resolved) {
    const TrialSpec& spec = resolved.spec;
    fmt::print("{} on {}, {} ({})\n\n{:>8}  {:>10}  {:>12}\n", spec.model.id, dataText(spec.dataset.id, dataName(spec)),
               spec.devices, plural(std::ssize(resolved.devices), "device"), "BATCH", "PER DEVICE", "SAMPLES/S");
    std::fflush(stdout);
}

void printFoundBatches(const ResolvedSpec& resolved, const FoundBatches& found) {
    const BatchSpeed knee = kneeOf(found.speeds);
    fmt::print("\nThe largest batch that fits is {}, {} per device{}.\n", countText(found.largest),
               perDeviceText(resolved, found.largest),
               fitsAll(resolved, found) ? ": there are no more training samples" : ", by the memory that is free now");
    fmt::print(
        "The smallest with at least {:.0f} % of the best speed is {}, {} per device: {}.\nSuggested: --batch {}\n",
        100 * kKneeShare, countText(knee.batch), perDeviceText(resolved, knee.batch), rateText(knee.samplesPerSecond),
        knee.batch);
}

Json foundBatchesJson(const ResolvedSpec& resolved, const FoundBatches& found) {
    Json speeds = Json::array();
    for (const BatchSpeed& each : found.speeds) speeds.push_back(speedJson(resolved, each));
    const std::int64_t knee = kneeOf(found.speeds).batch;
    return {{"model", resolved.spec.model.id},   {"dataset", resolved.spec.dataset.id},
            {"devices", resolved.spec.devices},  {"device_count", resolved.devices.size()},
            {"training_samples", found.samples}, {"all_samples_fit", fitsAll(resolved, found)},
            {"largest_batch", found.largest},    {"largest_per_device", samplesByDevice(resolved, found.largest)},
            {"suggested_batch", knee},           {"suggested_per_device", samplesByDevice(resolved, knee)},
            {"speeds", std::move(speeds)}};
}

int findBatch(Context& context, const FindBatchOptions& options) {
    const auto said = withWeights(options.spec);
    if (!said.ok()) return context.report(said.problems());
    const auto spec = specFrom(said.value(), findBatchDefaults(), context.environment());
    if (!spec.ok()) return context.report(spec.problems());
    const auto resolved = resolve(spec.value(), context.environment());
    if (!resolved.ok()) return context.report(resolved.problems());
    const auto data = openData(resolved.value());
    if (!data.ok()) return context.report(data.problems());
    const DatasetInfo &train = data.value().train->info(), &test = data.value().choosing()->info();
    ResolvedSpec timed = resolved.value();
    context.choosePrecision(timed, train);
    FoundBatches found{largestBatch(timed, train, test), train.count, {}};
    if (found.largest == 0) {
        if (const auto problem = whyNoneFits(timed, train, test)) return context.report({*problem});
        found.largest = leastBatch(timed);
    }
    if (!options.json) printFoundHead(timed);
    if (options.events) printPlanned(timed, options, found);
    measureSpeeds(timed, train, options, found);
    if (options.json) fmt::print("{}\n", lineOf(foundBatchesJson(timed, found)));
    else printFoundBatches(timed, found);
    return kDone;
}

}  // namespace

void addFindBatch(CLI::App& program, Run& run) {
    const auto options = std::make_shared<FindBatchOptions>();
    auto* command = program.add_subcommand(
        "find-batch", "The largest batch that fits in memory, and the smallest that is about as fast as any");
    addSourceOptions(*command, options->spec);
    addDataOptions(*command, options->spec);
    addModelOptions(*command, options->spec);
    addRunOptions(*command, options->spec);
    command->add_option("--doublings", options->doublings, "Measure at most so many beyond the first batch")
        ->type_name("N")
        ->check(CLI::Range(0, 30))
        ->capture_default_str();
    command->add_option("--seconds", options->seconds, "Time each batch for so long, at least one update")
        ->type_name("S")
        ->check(notNegative())
        ->capture_default_str();
    auto* json = command->add_flag("--json", options->json, "One JSON object");
    command
        ->add_flag("--events", options->events,
                   "With --json: before it a line for the plan, and for each batch as soon as it is timed")
        ->needs(json);
    command->footer(kFindBatchHelp);
    command->callback([options, &run] { run = [options](Context& context) { return findBatch(context, *options); }; });
}

}  // namespace lockstep
