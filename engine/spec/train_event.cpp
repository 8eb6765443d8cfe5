#include "engine/spec/train_event.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/spec/json_fields.h"
#include "engine/spec/metrics.h"

namespace lockstep {

// One list of fields per event, for writing and reading alike.
static void fields(auto& v, auto& e, const RunStarted*) {
    v("trial", e.trial), v("attempt", e.attempt), v("device_text", e.deviceText), v("devices", e.devices);
    v("virtual_devices", e.virtualDevices), v("parameters", e.parameters), v("steps_per_epoch", e.stepsPerEpoch);
    v("epochs", e.epochs), v("first_step", e.firstStep), v("train_samples", e.trainSamples);
    v("test_samples", e.testSamples), v("bytes_per_device", e.bytesPerDevice), v("shares", e.shares);
    v("batch_norm", e.batchNorm), v("learning_rate", e.learningRate), v("link_bandwidth", e.linkBandwidth);
    v("link_latency", e.linkLatency), v("task", e.task), v("software", e.software), v("hardware", e.hardware);
    v("threads", e.threads), v("validation_samples", e.validationSamples);
    v("precision", e.precision);
}
static void fields(auto& v, auto& e, const StepDone*) {
    v("step", e.step), v("epoch", e.epoch), v("samples", e.samples), v("seconds", e.seconds);
    for (const Metric& metric : metrics()) {
        if (metric.step) v(metric.field, e.*metric.step);
        if (metric.ranks) v(metric.field, e.*metric.ranks);
    }
}
static void fields(auto& v, auto& e, const EvalDone*) {
    v("step", e.step), v("epoch", e.epoch), v("samples", e.samples), v("seconds", e.seconds), v("split", e.split);
    for (const Metric& metric : metrics()) {
        if (metric.evaluated && metric.split != Split::Validation) v(metric.field, e.*metric.evaluated);
    }
    v("samples_per_second", e.samplesPerSecond), v("best", e.best);
}
static void fields(auto& v, auto& e, const CheckpointWritten*) {
    v("step", e.step), v("epoch", e.epoch), v("file", e.file), v("role", e.role);
}
static void fields(auto& v, auto& e, const StateChanged*) { v("state", e.state), v("step", e.step); }
static void fields(auto& v, auto& e, const Message*) {
    v("level", e.level), v("field", e.text.field), v("code", e.text.code), v("args", e.text.args);
}
static void fields(auto& v, auto& e, const RunFinished*) {
    v("outcome", e.outcome), v("trial", e.trial), v("step", e.step), v("epoch", e.epoch);
    v("test_accuracy", e.testAccuracy), v("test_loss", e.testLoss), v("best_accuracy", e.bestAccuracy);
    v("train_samples_per_second", e.trainSamplesPerSecond), v("seconds", e.seconds);
    v("held_up", e.heldUp);
    v.optional("unreadable", e.unreadable);
}
static void fields(auto& v, auto& e, const RunFailed*) {
    v("kind", e.kind), v("where", e.where), v("what", e.what), v("rank", e.rank), v("step", e.step);
    v("args", e.args), v("collective", e.collective), v("sequence", e.sequence), v("waiting", e.waiting);
}
static void fields(auto& v, auto& e, const WorldChanged*) {
    v("reason", e.reason), v("step", e.step), v("reached", e.reached), v("rank", e.rank), v("what", e.what);
    v("devices", e.devices);
}
static void fields(auto& v, auto& e, const StragglerFound*) {
    v("step", e.step), v("rank", e.rank), v("cause", e.cause), v("seconds", e.seconds), v("share", e.share);
}
static void fields(auto& v, auto& e, const TextSample*) {
    v("step", e.step), v("epoch", e.epoch), v("prompt", e.prompt), v("text", e.text);
}
static void fields(auto& v, auto& e, const DataProgress*) {
    v("done", e.done), v("total", e.total), v("samples_per_second", e.samplesPerSecond);
    v.optional("bytes", e.bytes);
}
static void fields(auto& v, auto& e, const EvalCounts*) {
    v("step", e.step), v("epoch", e.epoch), v("split", e.split), v("classes", e.classes), v("cells", e.cells);
    v("bin_samples", e.binSamples), v("bin_correct", e.binCorrect), v("bin_confidence", e.binConfidence);
    v.optional("left_out", e.leftOut);
}
static void fields(auto& v, auto& e, const BindingChanged*) {
    v("step", e.step), v("binding", e.binding), v("loading", e.loading), v("training", e.training);
    v("reached", e.reached), v("limit", e.limit), v("loader_threads", e.loaderThreads), v("devices", e.devices);
    v("cores", e.cores), v("have_processors", e.haveProcessors);
}

namespace {

constexpr const char* kBetween = ", ";

std::vector<std::string> split(const std::string& joined) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < joined.size();) {
        const auto end = std::min(joined.find(kBetween, at), joined.size());
        parts.push_back(joined.substr(at, end - at));
        at = end + std::string_view(kBetween).size();
    }
    return parts;
}

constexpr std::array<std::string_view, std::variant_size_v<TrainEvent>> kNames = {
    "run_started", "step_done",     "eval_done",   "checkpoint_written", "state_changed",
    "message",     "run_finished",  "run_failed",  "world_changed",      "straggler_found",
    "text_sample", "data_progress", "eval_counts", "binding_changed"};

template <std::size_t I = 0>
TrainEvent readEvent(std::string_view name, const nlohmann::json& object) {
    if constexpr (I == kNames.size()) {
        throw ProblemError({"event", "event.unknown", {std::string(name)}});
    } else {
        if (name != kNames[I]) return readEvent<I + 1>(name, object);
        using Kind = std::variant_alternative_t<I, TrainEvent>;
        Kind event;
        JsonFieldReader reader(object);
        fields(reader, event, static_cast<const Kind*>(nullptr));
        return event;
    }
}

}  // namespace

RunFailed failureFrom(const Problem& problem) {
    std::string joined;
    for (const std::string& arg : problem.args) joined += (joined.empty() ? "" : kBetween) + arg;
    return {problem.code, problem.field, std::move(joined), -1, 0, problem.args};
}

std::optional<Problem> problemIn(const RunFailed& failed) {
    const bool isCode = failed.kind.find('.') != std::string::npos;
    if (!isCode) return std::nullopt;
    return Problem{failed.where, failed.kind, failed.args.empty() ? split(failed.what) : failed.args};
}

std::string_view nameOf(const TrainEvent& event) { return kNames[event.index()]; }

bool isStepEvent(const TrainEvent& event) {
    return std::holds_alternative<StepDone>(event) || std::holds_alternative<DataProgress>(event);
}

std::string toJsonLine(const TrainEvent& event, std::int64_t number) {
    std::string line = "{";
    JsonFieldWriter writer(line);
    writer("n", number), writer("event", nameOf(event));
    std::visit([&]<class Kind>(const Kind& each) { fields(writer, each, static_cast<const Kind*>(nullptr)); }, event);
    return line + "}";
}

Result<NumberedEvent> eventFromJsonLine(std::string_view line) {
    const auto object = nlohmann::json::parse(line, nullptr, false);
    if (!object.is_object()) return Problem{"", "event.malformed", {std::string(line.substr(0, 60))}};
    try {
        NumberedEvent out;
        std::string name;
        JsonFieldReader reader(object);
        reader("n", out.number);
        reader("event", name);
        out.event = readEvent(name, object);
        return out;
    } catch (const BadJsonField& bad) {
        return Problem{bad.key, "event.bad-field", {bad.key}};
    } catch (const ProblemError& error) {
        return error.problem();
    }
}

}  // namespace lockstep
