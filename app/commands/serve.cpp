#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "app/commands/commands.h"
#include "app/listing.h"
#include "app/samples.h"
#include "app/spec_options.h"
#include "app/standard_streams.h"
#include "datasets/catalog.h"
#include "engine/core/error.h"
#include "engine/core/strict_json.h"
#include "engine/spec/trial_fields.h"
#include "engine/train/memory_need.h"
#include "engine/train/plan_run.h"
#include "engine/train/weights.h"

namespace lockstep {

namespace {

constexpr const char* kServeHelp = R"(
One JSON object a line on the standard input, one answer a line on the standard output; ends with its input.
  {"id":1,"request":"devices"}
  {"id":2,"request":"datasets"}
  {"id":3,"request":"models"}
  {"id":4,"request":"settings"}                       a trial's own fields, optimizers, schedules, augmentation
  {"id":5,"request":"inspect","path":"/data/cifar"}
  {"id":6,"request":"validate","spec":{...}}          all problems of a spec, without opening its data
  {"id":7,"request":"plan","spec":{...}}              layers, parameters, steps per epoch, memory per device
  {"id":8,"request":"samples","spec":{...},"count":10}   images before and after augmentation, images per class
  {"id":9,"request":"schedule","spec":{...},"points":200,"steps_per_epoch":469}   the learning rate over the epochs
  {"id":10,"request":"presets"}                       specs that come with the program
  {"id":11,"request":"hello"}                         the program's version
An answer repeats the id and has either the result's keys or "problems". A line has at most a mebibyte.)";

// Answers one request. Throws ProblemError; EngineError where a spec cannot be compiled.
class Server {
public:
    explicit Server(Context& context) : m_context(context) {}

    Json answer(const Json& request) {
        const auto name = request.value("request", std::string());
        if (name == "devices") return devicesJson(environment(), words());
        if (name == "datasets") return datasetsJson(environment());
        if (name == "models") return modelsJson(environment());
        if (name == "settings") return settings();
        if (name == "hello") return {{"lockstep", LOCKSTEP_VERSION}};
        if (name == "presets") return presets();
        if (name == "inspect") return inspect(request.value("path", std::string()));
        if (name == "validate") return {{"problems", problemsJson(problemsOf(request), words())}};
        if (name == "plan") return plan(specOf(request));
        if (name == "samples") return samples(specOf(request), request.value("count", 10));
        if (name == "schedule") return curve(request);
        throw ProblemError({"request", "serve.unknown-request", {name}});
    }

private:
    const Environment& environment() { return m_context.environment(); }
    const Words& words() const { return m_context.words(); }

    template <class T>
    static T valueOf(Result<T> result) {
        if (!result.ok()) throw ProblemError(result.problems().front());
        return std::move(result).value();
    }

    static TrialSpec specOf(const Json& request) {
        return valueOf(trialSpecFromJson(lineOf(request.value("spec", Json())), ""));
    }

    static Json settings() {
        Json out = settingsJson();
        ParamSchema fields;
        for (const TrialField& each : trialFields()) fields.push_back(each.field);
        out["trial"] = schemaJson(fields);
        out["defaults"] = Json::parse(toJson(TrialSpec()));
        return out;
    }

    static Json presets() {
        Json out = Json::array();
        for (const auto& name : presetNames()) {
            out.push_back({{"name", name}, {"spec", Json::parse(toJson(valueOf(preset(name))))}});
        }
        return {{"presets", out}};
    }

    std::vector<Problem> problemsOf(const Json& request) {
        const auto spec = trialSpecFromJson(lineOf(request.value("spec", Json())), "");
        return spec.ok() ? validate(spec.value(), environment()) : spec.problems();
    }

    // What was last looked at is kept, so that a form which changes the augmentation or the batch reads no data again.
    const Glimpse& glimpse(const TrialSpec& spec) {
        const auto* entry = environment().dataset(spec.dataset.id);
        if (!entry)
            throw ProblemError({"dataset", "spec.unknown-dataset", {spec.dataset.id, "see `lockstep datasets`"}});
        const auto params = valueOf(ParamValues::from(entry->params, spec.dataset.params, "dataset"));
        const auto path = valueOf(dataPathOf(*entry, spec.dataPath));
        const Seen seen{spec.dataset, path};
        if (!m_glimpse || m_seen != seen) {
            m_glimpse.reset();
            m_glimpse = valueOf(glimpseAt(*entry, path, params, kMostSamples));
            m_seen = seen;
        }
        return *m_glimpse;
    }

    Json samples(const TrialSpec& spec, int count) {
        const auto how = valueOf(ParamValues::from(augmentationSchema(), spec.augmentation, "augmentation"));
        return samplesJson(glimpse(spec), count, augmentationFrom(how), spec.seed, words());
    }

    // Without data: `steps_per_epoch` only decides how finely a warm-up is cut.
    Json curve(const Json& request) {
        const auto spec = specOf(request);
        const auto* entry = findSchedule(spec.schedule.id);
        if (!entry) throw ProblemError({"schedule", "spec.unknown-schedule", {spec.schedule.id, "see \"settings\""}});
        const auto steps = std::clamp<std::int64_t>(request.value("steps_per_epoch", std::int64_t{100}), 1, 1 << 24);
        const auto epochs = std::clamp<std::int64_t>(spec.epochs, 1, 1'000'000);
        const auto points = std::clamp(request.value("points", 200), 2, kMostPoints);
        const double factor = rateFactor(spec.learningRateRule, std::max<std::int64_t>(spec.batch, 1),
                                         std::max<std::int64_t>(spec.learningRateBatch, 1));
        const Schedule schedule(entry->name,
                                valueOf(ParamValues::from(entry->params, spec.schedule.params, "schedule")),
                                spec.learningRate * factor, steps * epochs, steps, factor > 1 ? 1 / factor : 0);
        Json at = Json::array(), rates = Json::array();
        for (int i = 0; i < points; ++i) {
            const std::int64_t step = (steps * epochs - 1) * i / (points - 1);
            at.push_back(static_cast<double>(step) / static_cast<double>(steps));
            rates.push_back(schedule.at(step));
        }
        return {{"epochs", at}, {"rates", rates}};
    }

    Json inspect(const std::string& path) {
        const auto* entry = valueOf(recogniseDataset(environment().datasets(), path));
        return reportJson(valueOf(entry->inspect(path, ParamValues(entry->params), {})), words());
    }

    Json plan(const TrialSpec& spec) {
        const auto resolved = valueOf(resolve(spec, environment()));
        const auto& train = glimpse(spec).train;
        const auto run = planRun(resolved, train, glimpse(spec).test);
        if (const auto problem = shortOfMemory(resolved, run, train, glimpse(spec).test)) throw ProblemError(*problem);
        ModelInput input = modelInput(*resolved.model, train, 1, spec.labelSmoothing);
        input.frozen = resolved.frozen;
        if (const auto problems = weightsProblems(resolved, train); !problems.empty())
            throw ProblemError(problems.front());
        const auto forward = valueOf(buildForward(*resolved.model, resolved.modelParams, input, true));
        Json devices = Json::array();
        for (const auto& device : resolved.devices) {
            devices.push_back({{"id", device.id}, {"threads", device.threads}, {"virtual", device.isVirtual}});
        }
        return {{"layers", layersJson(layerTable(forward))}, {"parameters", run.parameters},
                {"steps_per_epoch", run.stepsPerEpoch},      {"total_steps", run.totalSteps},
                {"bytes_per_device", run.bytesPerDevice},    {"devices", devices}};
    }

    static constexpr int kMostSamples = 40, kMostPoints = 1000;
    struct Seen {
        Choice dataset;
        std::filesystem::path path;
        bool operator==(const Seen&) const = default;
    };
    Context& m_context;
    std::optional<Glimpse> m_glimpse;
    Seen m_seen;
};

constexpr JsonLimits kLimits{.depth = 16, .members = 1000};
constexpr std::size_t kLongestLine = 1 << 20;

// False at the end of the input. Of a line that is too long one character too many is kept, and the rest read away.
bool nextLine(std::streambuf& in, std::string& line) {
    constexpr int kEnd = std::streambuf::traits_type::eof();
    line.clear();
    int next = in.sbumpc();
    if (next == kEnd) return false;
    for (; next != '\n' && next != kEnd; next = in.sbumpc()) {
        if (line.size() <= kLongestLine) line += static_cast<char>(next);
    }
    return true;
}

Json parsed(const std::string& line) {
    if (line.size() > kLongestLine)
        throw ProblemError({"", "serve.too-long", {line.substr(0, 60), std::to_string(kLongestLine)}});
    const auto request = parseStrictly(line, kLimits);
    const auto* sound = std::get_if<nlohmann::json>(&request);
    return sound ? Json(*sound) : Json(Json::value_t::discarded);
}

// Whatever goes wrong with one request, the next is answered.
Json answerTo(Server& server, const std::string& line, const Words& words) {
    Json out = Json::object();
    const auto objection = [&](const Problem& problem) { out["problems"] = problemsJson({problem}, words); };
    const Problem malformed{"", "serve.malformed", {line.substr(0, 60)}};
    try {
        const Json request = parsed(line);
        if (!request.is_object()) throw ProblemError(malformed);
        if (request.contains("id")) out["id"] = request["id"];
        out.update(server.answer(request));
    } catch (const ProblemError& error) {
        objection(error.problem());
    } catch (const EngineError& error) {
        objection({error.where(), "app.engine-error", {error.what()}});
    } catch (const Json::exception&) {  // a key of the wrong kind
        objection(malformed);
    } catch (const std::exception& error) {
        objection({"request", "app.engine-error", {error.what()}});
    }
    return out;
}

int serve(Context& context) {
    Server server(context);
    for (std::string line; nextLine(*std::cin.rdbuf(), line);) {
        fmt::print("{}\n", lineOf(answerTo(server, line, context.words())));
        std::fflush(stdout);
        if (outputError() != 0) return kFailed;
    }
    return kDone;
}

}  // namespace

void addServe(CLI::App& program, Run& run) {
    auto* command =
        program.add_subcommand("serve", "Answer questions about devices, datasets, models and specs, line by line");
    command->footer(kServeHelp);
    command->callback([&run] { run = serve; });
}

}  // namespace lockstep
