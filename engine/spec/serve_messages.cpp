#include "engine/spec/serve_messages.h"

#include <array>

#include "engine/core/strict_json.h"

namespace lockstep {

// ---- The fields of each message ------------------------------------------------------------------------------------

static void fields(auto& v, auto& e, const Problem*) { v("field", e.field), v("code", e.code), v("args", e.args); }
static void fields(auto& v, auto& e, const ToldProblem*) {
    fields(v, e.problem, static_cast<const Problem*>(nullptr));
    v("what", e.what), v("remedy", e.remedy);
}

constexpr std::array<std::string_view, std::variant_size_v<ParamValue>> kKinds{"flag", "integer", "number", "text"};

static ParamValue emptyOf(std::string_view kind) {
    if (kind == kKinds[0]) return false;
    if (kind == kKinds[1]) return std::int64_t{};
    return kind == kKinds[2] ? ParamValue(0.0) : ParamValue(std::string());
}

static void fields(auto& v, auto& e, const ParamField*) {
    v("name", e.name);
    std::string kind(kKinds[e.fallback.index()]);
    v("kind", kind);
    if constexpr (std::remove_reference_t<decltype(v)>::kReads) e.fallback = emptyOf(kind);
    v("fallback", e.fallback), v("low", e.low), v("high", e.high), v.optional("choices", e.choices);
    v("unit", e.unit), v("meaning", e.meaning);
}

static void fields(auto& v, auto& e, const HelloAnswer*) { v("lockstep", e.version); }

static void fields(auto& v, auto& e, const OfferedDevice*) {
    v("id", e.info.id), v("name", e.info.name), v("backend", e.info.backend);
    v("memory_bytes", e.info.memoryBytes), v("cores", e.info.cores);
    v.optional("facts", e.facts), v.optional("bf16_speed", e.bf16Speed);
}
static void fields(auto& v, auto& e, const MissingBackend*) { v("backend", e.backend), v("problems", e.problems); }
static void fields(auto& v, auto& e, const DevicesAnswer*) { v("devices", e.devices), v("missing", e.missing); }

static void fields(auto& v, auto& e, const OfferedChoice*) {
    v("id", e.id), v.optional("title", e.title), v.optional("meaning", e.meaning), v.optional("state", e.state);
    v.optional("path", e.path), v.optional("remedy", e.remedy), v.optional("task", e.task), v("params", e.params);
}
static void fields(auto& v, auto& e, const DatasetsAnswer*) { v("datasets", e.datasets); }
static void fields(auto& v, auto& e, const ModelsAnswer*) { v("models", e.models); }
static void fields(auto& v, auto& e, const SettingsAnswer*) {
    v("optimizers", e.optimizers), v("schedules", e.schedules), v("augmentation", e.augmentation);
    v("trial", e.trial), v("defaults", e.defaults);
}
static void fields(auto& v, auto& e, const OfferedPreset*) { v("name", e.name), v("spec", e.spec); }
static void fields(auto& v, auto& e, const PresetsAnswer*) { v("presets", e.presets); }

static void fields(auto& v, auto& e, const DescribedField*) {
    v("name", e.name), v("type", e.type), v("shape", e.shape);
}
static void fields(auto& v, auto& e, const DescribedData*) {
    v("format", e.format), v("fields", e.fields), v("train_count", e.trainCount), v("test_count", e.testCount),
        v("validation_count", e.validationCount);
    v("classes", e.classes), v("train_per_class", e.trainPerClass), v("test_per_class", e.testPerClass);
    v("warnings", e.warnings), v.optional("validation_per_class", e.validationPerClass);
}
static void fields(auto& v, auto& e, const LeftOutFile*) { v("file", e.file), v("problems", e.problems); }
static void fields(auto& v, auto& e, const InspectAnswer*) {
    fields(v, e.data, static_cast<const DescribedData*>(nullptr));
    v("skipped", e.skipped);
}
static void fields(auto& v, auto& e, const ShownImage*) {
    v("channels", e.channels), v("height", e.height), v("width", e.width), v("pixels", e.pixels);
}
static void fields(auto& v, auto& e, const ShownSample*) {
    v("label", e.label), v("before", e.before), v("after", e.after);
}
static void fields(auto& v, auto& e, const SamplesAnswer*) {
    fields(v, e.data, static_cast<const DescribedData*>(nullptr));
    v("skipped", e.skipped), v("samples", e.samples);
}
static void fields(auto& v, auto& e, const AskedAbout*) {
    v("image", e.image), v("text", e.text);
    v.optional("file", e.file);
}
static void fields(auto& v, auto& e, const AskedSamplesAnswer*) {
    v("classes", e.classes), v("samples", e.samples), v.optional("changed", e.changed);
}

static void fields(auto& v, auto& e, const ValidateAnswer*) { v("problems", e.problems); }
static void fields(auto& v, auto& e, const PlannedLayer*) {
    v("name", e.name), v("op", e.op), v("output", e.output), v("parameters", e.parameters);
}
static void fields(auto& v, auto& e, const PlannedDevice*) {
    v("id", e.id), v("threads", e.threads), v("virtual", e.isVirtual);
}
static void fields(auto& v, auto& e, const PlanAnswer*) {
    v("layers", e.layers), v("parameters", e.parameters), v("steps_per_epoch", e.stepsPerEpoch);
    v("total_steps", e.totalSteps), v("bytes_per_device", e.bytesPerDevice), v("devices", e.devices);
    v("bytes_per_checkpoint", e.bytesPerCheckpoint), v("checkpoints", e.checkpoints);
    v.optional("precision", e.ofPrecision);
}
static void fields(auto& v, auto& e, const PrecisionRate*) {
    v("precision", e.precision), v("samples_per_second", e.samplesPerSecond);
}
static void fields(auto& v, auto& e, const SpeedsAnswer*) { v("speeds", e.speeds); }
static void fields(auto& v, auto& e, const ScheduleAnswer*) { v("epochs", e.epochs), v("rates", e.rates); }

static void fields(auto&, auto&, const HelloRequest*) {}
static void fields(auto&, auto&, const DevicesRequest*) {}
static void fields(auto&, auto&, const DatasetsRequest*) {}
static void fields(auto&, auto&, const ModelsRequest*) {}
static void fields(auto&, auto&, const SettingsRequest*) {}
static void fields(auto&, auto&, const PresetsRequest*) {}
static void fields(auto& v, auto& e, const InspectRequest*) { v("path", e.path); }
static void fields(auto& v, auto& e, const ValidateRequest*) { v("spec", e.spec); }
static void fields(auto& v, auto& e, const PlanRequest*) { v("spec", e.spec); }
static void fields(auto& v, auto& e, const SpeedsRequest*) { v("spec", e.spec); }
static void fields(auto& v, auto& e, const SamplesRequest*) { v("spec", e.spec), v("count", e.count); }
static void fields(auto& v, auto& e, const AskedSamplesRequest*) {
    v("spec", e.spec), v("data", e.data), v("split", e.split), v("samples", e.samples);
    v.optional("dataset", e.dataset), v.optional("fingerprint", e.fingerprint);
    v.optional("trained_on", e.trainedOn), v.optional("checkpoint", e.checkpoint);
}
static void fields(auto& v, auto& e, const ScheduleRequest*) {
    v("spec", e.spec), v("points", e.points), v("steps_per_epoch", e.stepsPerEpoch);
}

// ---- Lines ---------------------------------------------------------------------------------------------------------

namespace {

constexpr JsonLimits kLineLimits{.depth = 16, .members = 1000};

Problem malformed(std::string_view line) { return {"", "serve.malformed", {std::string(line.substr(0, 60))}}; }

template <std::size_t... I>
std::string namesOfRequests(std::index_sequence<I...>) {
    std::string names;
    ((names += (I > 0 ? ", " : "") + std::string(std::variant_alternative_t<I, ServeRequest>::kName)), ...);
    return names;
}
std::string knownRequests() { return namesOfRequests(std::make_index_sequence<std::variant_size_v<ServeRequest>>()); }

template <std::size_t I = 0>
ServeRequest requestFrom(std::string_view name, JsonFieldReader& reader) {
    if constexpr (I == std::variant_size_v<ServeRequest>) {
        throw ProblemError({"request", "serve.unknown-request", {std::string(name), knownRequests()}});
    } else {
        using Kind = std::variant_alternative_t<I, ServeRequest>;
        if (name != Kind::kName) return requestFrom<I + 1>(name, reader);
        Kind request;
        fields(reader, request, static_cast<const Kind*>(nullptr));
        return request;
    }
}

Result<ServeRequest> requestFrom(const nlohmann::json& object, std::string_view line) {
    try {
        JsonFieldReader reader(object);
        std::string name;
        reader("request", name);
        return requestFrom(name, reader);
    } catch (const BadJsonField& bad) {
        return Problem{bad.key, "serve.bad-field", {std::string(line.substr(0, 60))}};
    } catch (const ProblemError& error) {
        return error.problem();
    }
}

std::string withId(const JsonText& id, const auto& writeRest) {
    std::string line = "{";
    JsonFieldWriter writer(line);
    if (!id.text.empty()) writer("id", id);
    writeRest(writer);
    return line + "}";
}

}  // namespace

std::string questionLine(std::int64_t id, const ServeRequest& request) {
    return withId({std::to_string(id)}, [&](JsonFieldWriter& writer) {
        std::visit(
            [&]<class Kind>(const Kind& each) {
                writer("request", Kind::kName);
                fields(writer, each, static_cast<const Kind*>(nullptr));
            },
            request);
    });
}

Question questionFrom(std::string_view line) {
    if (line.size() > kLongestQuestion)
        return {{{}},
                Problem{"", "serve.too-long", {std::string(line.substr(0, 60)), std::to_string(kLongestQuestion)}}};
    const auto parsed = parseStrictly(line, kLineLimits);
    const auto* object = std::get_if<nlohmann::json>(&parsed);
    if (!object || !object->is_object()) return {{{}}, malformed(line)};
    JsonText id{{}};
    JsonFieldReader reader(*object);
    reader("id", id);
    return {id, requestFrom(*object, line)};
}

template <class Message>
std::string jsonOf(const Message& message) {
    std::string text;
    JsonFieldWriter(text).put(message);
    return text;
}

template <class Answer>
std::string replyLine(const JsonText& id, const Answer& answer) {
    return withId(id, [&](JsonFieldWriter& writer) { fields(writer, answer, static_cast<const Answer*>(nullptr)); });
}

std::string refusalLine(const JsonText& id, const std::vector<ToldProblem>& problems) {
    return withId(id, [&](JsonFieldWriter& writer) { writer("problems", problems); });
}

std::string progressLine(const JsonText& id, const ServeProgress& progress) {
    return withId(id, [&](JsonFieldWriter& writer) { writer("reading", progress.done), writer("of", progress.total); });
}

std::optional<ServeProgress> progressFrom(const nlohmann::json& line) {
    const auto done = line.find("reading"), total = line.find("of");
    if (done == line.end() || total == line.end() || !done->is_number_integer() || !total->is_number_integer())
        return std::nullopt;
    return ServeProgress{done->get<std::int64_t>(), total->get<std::int64_t>()};
}

template <class Answer>
Reply<Answer> replyFrom(const nlohmann::json& reply) {
    Reply<Answer> out;
    if (!reply.is_object()) return Reply<Answer>::refusal({"", "serve.bad-reply", {"an object"}});
    try {
        JsonFieldReader reader(reply);
        std::vector<ToldProblem> problems;
        reader("problems", problems);
        for (auto& each : problems) out.problems.push_back(std::move(each.problem));
        fields(reader, out.answer, static_cast<const Answer*>(nullptr));
    } catch (const BadJsonField& bad) {
        out.answer = {};
        out.problems = {{bad.key, "serve.bad-reply", {bad.key}}};
    }
    return out;
}

template std::string jsonOf(const ToldProblem&);
template std::string jsonOf(const ParamField&);
template std::string jsonOf(const PlannedLayer&);
#define LOCKSTEP_ANSWER(Answer)                                        \
    template std::string jsonOf(const Answer&);                        \
    template std::string replyLine(const JsonText& id, const Answer&); \
    template Reply<Answer> replyFrom<Answer>(const nlohmann::json& reply);
LOCKSTEP_ANSWER(HelloAnswer)
LOCKSTEP_ANSWER(DevicesAnswer)
LOCKSTEP_ANSWER(DatasetsAnswer)
LOCKSTEP_ANSWER(ModelsAnswer)
LOCKSTEP_ANSWER(SettingsAnswer)
LOCKSTEP_ANSWER(PresetsAnswer)
LOCKSTEP_ANSWER(InspectAnswer)
LOCKSTEP_ANSWER(SamplesAnswer)
LOCKSTEP_ANSWER(AskedSamplesAnswer)
LOCKSTEP_ANSWER(ValidateAnswer)
LOCKSTEP_ANSWER(PlanAnswer)
LOCKSTEP_ANSWER(SpeedsAnswer)
LOCKSTEP_ANSWER(ScheduleAnswer)
#undef LOCKSTEP_ANSWER

}  // namespace lockstep
