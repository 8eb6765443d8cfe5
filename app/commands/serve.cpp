#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "app/commands/commands.h"
#include "app/listing.h"
#include "app/plain_run.h"
#include "datasets/catalog.h"
#include "engine/core/error.h"

namespace lockstep {

namespace {

constexpr const char* kHelp = R"(
One JSON object a line on the standard input, one answer a line on the standard output; ends with its input.
  {"id":1,"request":"devices"}
  {"id":2,"request":"datasets"}
  {"id":3,"request":"models"}
  {"id":4,"request":"settings"}                       optimizers, schedules, augmentation
  {"id":5,"request":"inspect","path":"/data/cifar"}
  {"id":6,"request":"validate","spec":{...}}          all problems of a spec, without opening its data
  {"id":7,"request":"plan","spec":{...}}              layers, parameters, steps per epoch, memory per device
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
        if (name == "settings") return settingsJson();
        if (name == "inspect") return inspect(request.value("path", std::string()));
        if (name == "validate") return {{"problems", problemsJson(validate(specOf(request), environment()), words())}};
        if (name == "plan") return plan(specOf(request));
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

    Json inspect(const std::string& path) {
        const auto* entry = valueOf(recogniseDataset(environment().datasets(), path));
        return reportJson(valueOf(entry->inspect(path, ParamValues(entry->params))), words());
    }

    Json plan(const TrialSpec& spec) {
        const auto resolved = valueOf(resolve(spec, environment()));
        const auto data = valueOf(openData(resolved));
        const auto& train = data.train->info();
        const auto run = planRun(resolved, train, data.test->info());
        const ModelInput input = modelInput(train, 1, spec.labelSmoothing);
        const auto forward = valueOf(buildForward(*resolved.model, resolved.modelParams, input, true));
        Json devices = Json::array();
        for (const auto& device : resolved.devices) {
            devices.push_back({{"id", device.id}, {"threads", device.threads}, {"virtual", device.isVirtual}});
        }
        return {{"layers", layersJson(layerTable(forward))}, {"parameters", run.parameters},
                {"steps_per_epoch", run.stepsPerEpoch},      {"total_steps", run.totalSteps},
                {"bytes_per_device", run.bytesPerDevice},    {"devices", devices}};
    }

    Context& m_context;
};

// What is nested deeper than any request is left out, so that a hostile line cannot exhaust the stack.
bool shallow(int depth, Json::parse_event_t, Json&) { return depth < 16; }

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
    return Json::parse(line, shallow, false);
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
    } catch (const Json::exception&) {                       // a key of the wrong kind
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
        if (std::fflush(stdout) != 0) return kFailed;
    }
    return kDone;
}

}  // namespace

void addServe(CLI::App& program, Run& run) {
    auto* command =
        program.add_subcommand("serve", "Answer questions about devices, datasets, models and specs, line by line");
    command->footer(kHelp);
    command->callback([&run] { run = serve; });
}

}  // namespace lockstep
