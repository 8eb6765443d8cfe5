#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "app/commands/commands.h"
#include "app/curve.h"
#include "app/format.h"
#include "app/listing.h"
#include "app/train_run.h"
#include "engine/core/error.h"
#include "engine/train/rate_range.h"

namespace lockstep {

namespace {

constexpr int kRateColumns = 60, kRateRows = 12;

struct FindRateOptions {
    SpecOptions spec;
    RateRange range;
    bool json = false, events = false;
};

constexpr const char* kFindRateHelp = R"(
The rate grows from update to update, and the test ends where the smoothed loss is four times its best. The suggestion
is where the loss falls most steeply; nothing is kept. What is said of epochs, of the rate and of its schedule does not
matter here.

Examples:
  lockstep find-rate --preset fashion
  lockstep find-rate --data ~/photos --model resnet18 --weights resnet18.safetensors --new-head auto --devices cpu:2
  lockstep find-rate --preset fashion --optimizer adamw --from 1e-5 --to 1 --steps 200 --json

Exit status: 0 only with a suggestion, 1 where the loss falls at no rate.)";

using OnRate = std::function<void(const RateTest& test)>;  // of which the newest point is new

// Hears the losses of a run, and ends it when the test is over.
class RateListener final : public EventSink {
public:
    RateListener(RateTest& test, RunControl& control, const Words& words, OnRate onRate)
        : m_test(test), m_control(control), m_words(words), m_onRate(std::move(onRate)) {}

    void post(std::int64_t, const TrainEvent& event) override {
        if (const auto* message = std::get_if<Message>(&event); message && isTold(*message))
            fmt::print(stderr, "{}", m_words.report({message->text}));
        if (const auto* started = std::get_if<RunStarted>(&event)) m_precision = started->precision;
        if (const auto* step = std::get_if<StepDone>(&event)) add(step->loss);
    }

    const std::string& precision() const { return m_precision; }

    void add(double loss) {
        if (m_test.isOver()) return;
        m_test.add(loss);
        if (m_onRate) m_onRate(m_test);
        if (m_test.isOver()) m_control.stop();
    }

private:
    static bool isTold(const Message& message) {
        const bool isChosen = message.text.field == "precision" && message.text.code != kPrecisionMeasured;
        return message.level == "warning" || isChosen;
    }

    RateTest& m_test;
    RunControl& m_control;
    const Words& m_words;
    OnRate m_onRate;
    std::string m_precision;  // that the run computes in
};

// Enough epochs for all rates. An update that is not finite ends the test, and a lost device must not repeat rates.
TrialSpec specOfRateTest(TrialSpec spec, const RateRange& range) {
    spec.epochs = range.steps + 1;
    spec.sampleLength = 0;
    spec.onNonFinite = spec.onLostDevice = "stop";
    return spec;
}

// A rate as --lr takes it. Where a rule scales that by the batch, the tested ones are what comes of it.
double asGiven(const TrialSpec& spec, double rate) {
    return rate / rateFactor(spec.learningRateRule, spec.batch, spec.learningRateBatch);
}

std::string testedRateText(double rate) { return fmt::format("{:.2g}", rate); }

// Why there is no suggestion.
Problem noDescent(const RateTest& test, const FindRateOptions& options, const TrialSpec& spec) {
    if (const auto rate = test.blewUpAt())
        return {spec.model.id, "rate.blew-up", {testedRateText(*rate), std::to_string(test.points().size())}};
    return {
        spec.model.id,
        "rate.no-descent",
        {testedRateText(options.range.from), testedRateText(options.range.to), std::to_string(options.range.steps)}};
}

void printRateCurve(const RateTest& test) {
    const auto& points = test.points();
    std::vector<double> losses;
    for (const RatePoint& point : points) losses.push_back(point.smoothed);
    if (test.blewUpAt()) losses.pop_back();  // the rest would be a flat line beside it
    if (losses.empty()) return;
    const auto columns = std::max<std::ptrdiff_t>(std::min<std::ptrdiff_t>(kRateColumns, std::ssize(losses)), 16);
    fmt::print("\n{}{:11}{:<8}{:>{}}\n\n", curveText(losses, kRateColumns, kRateRows), "",
               testedRateText(points.front().rate), testedRateText(points[losses.size() - 1].rate), columns - 8);
}

void printRates(const RateTest& test, const TrialSpec& spec) {
    printRateCurve(test);
    const RatePoint* lowest = test.lowest();
    if (lowest)
        fmt::print("The smoothed loss is lowest, {:.4f}, at a rate of {}.\n", lowest->smoothed,
                   testedRateText(lowest->rate));
    if (const auto rate = test.blewUpAt()) fmt::print("It blew up at {}.\n", testedRateText(*rate));
    else fmt::print("It did not blow up.\n");
    if (const auto rate = test.steepest())
        fmt::print("It falls most steeply at {}.\nSuggested: --lr {}\n", testedRateText(*rate),
                   testedRateText(asGiven(spec, *rate)));
}

Json rateOrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json pointJson(const RatePoint& point) {
    return {{"learning_rate", point.rate}, {"loss", point.loss}, {"smoothed_loss", point.smoothed}};
}

Json ratesJson(const RateTest& test, const TrialSpec& spec, const FindRateOptions& options,
               const std::vector<Problem>& problems, const Words& words) {
    Json points = Json::array();
    for (const RatePoint& point : test.points()) points.push_back(pointJson(point));
    const auto steepest = test.steepest();
    const RatePoint* lowest = test.lowest();
    return {{"model", spec.model.id},
            {"dataset", spec.dataset.id},
            {"batch", spec.batch},
            {"devices", spec.devices},
            {"precision", spec.precision},
            {"from", options.range.from},
            {"to", options.range.to},
            {"steps", options.range.steps},
            {"suggested_lr", steepest ? Json(asGiven(spec, *steepest)) : Json()},
            {"steepest_at", rateOrNull(steepest)},
            {"lowest_at", lowest ? Json(lowest->rate) : Json()},
            {"blew_up_at", rateOrNull(test.blewUpAt())},
            {"problems", problemsJson(problems, words)},
            {"points", std::move(points)}};
}

// Whoever looks on has it at once.
void printRateEvent(const RateTest& test, const RateRange& range) {
    Json event{{"event", "rate_tested"}, {"update", test.points().size()}, {"updates", range.steps}};
    event.update(pointJson(test.points().back()));
    event["blew_up"] = test.blewUpAt().has_value();
    fmt::print("{}\n", lineOf(event));
    std::fflush(stdout);
}

// The losses of a run, one for each rate until it blew up; its precision becomes the spec's. The run's own failure is
// reported, and its status returned.
std::optional<int> testRates(Context& context, TrialSpec& spec, const FindRateOptions& options, RateTest& test) {
    const RateRange& range = options.range;
    const OnRate tell = [&range](const RateTest& tested) { printRateEvent(tested, range); };
    RunControl control;
    RateListener listener(test, control, context.words(), options.events ? tell : OnRate());
    const auto endProcess = [&](const RunFailed& failed) {
        context.report({problemOf(failed)});
        std::fflush(stdout);
        std::_Exit(kFailed);
    };
    PlainRun run{spec, {}, std::nullopt, &control, {&listener}, endProcess};
    run.learningRate = [range](std::int64_t update) { return range.at(update); };
    const auto result = runPlainly(run, context.environment());
    if (!result.ok()) return context.report(result.problems());
    spec.precision = listener.precision();
    const RunFailed& failed = result.value().failed;
    if (failed.kind == text(EngineError::Kind::NonFinite)) listener.add(std::numeric_limits<double>::quiet_NaN());
    if (test.isOver()) return std::nullopt;
    context.report({problemOf(failed)});
    return exitStatusOf(failed);
}

int findRate(Context& context, const FindRateOptions& options) {
    const RateRange& range = options.range;
    if (const auto problem = problemOf(range)) return context.report({*problem});
    const auto said = withWeights(options.spec);
    if (!said.ok()) return context.report(said.problems());
    const auto asked = specFrom(said.value(), {}, context.environment());
    if (!asked.ok()) return context.report(asked.problems());
    TrialSpec spec = specOfRateTest(asked.value(), range);
    if (!options.json) {
        fmt::print("{} on {}, batch {}, {}, {}: {} with rates from {} to {}\n", spec.model.id,
                   dataText(spec.dataset.id, dataName(spec)), spec.batch, spec.devices, spec.precision,
                   plural(range.steps, "update"), testedRateText(range.from), testedRateText(range.to));
        std::fflush(stdout);
    }
    RateTest test(range);
    if (const auto status = testRates(context, spec, options, test)) return *status;
    std::vector<Problem> problems;
    if (!test.steepest()) problems.push_back(noDescent(test, options, spec));
    if (options.json) {
        fmt::print("{}\n", lineOf(ratesJson(test, spec, options, problems, context.words())));
    } else {
        printRates(test, spec);
        fmt::print(stderr, "{}", context.words().report(problems));
    }
    return problems.empty() ? kDone : kFailed;
}

}  // namespace

void addFindRate(CLI::App& program, Run& run) {
    const auto options = std::make_shared<FindRateOptions>();
    auto* command = program.add_subcommand(
        "find-rate", "A learning rate to begin with: one short run whose rate grows from update to update");
    addSourceOptions(*command, options->spec);
    addDataOptions(*command, options->spec);
    addModelOptions(*command, options->spec);
    addRunOptions(*command, options->spec);
    command->add_option("--from", options->range.from, "The first rate")->type_name("RATE")->capture_default_str();
    command->add_option("--to", options->range.to, "The last rate")->type_name("RATE")->capture_default_str();
    command->add_option("--steps", options->range.steps, "Updates from the one to the other")
        ->type_name("N")
        ->check(CLI::Range(20, 100000))
        ->capture_default_str();
    auto* json = command->add_flag("--json", options->json, "One JSON object with all rates and losses");
    command
        ->add_flag("--events", options->events, "With --json: before it a line for each rate, as soon as it is tested")
        ->needs(json);
    command->footer(kFindRateHelp);
    command->callback([options, &run] { run = [options](Context& context) { return findRate(context, *options); }; });
}

}  // namespace lockstep
