#pragma once
#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/core/device_info.h"
#include "engine/core/param_schema.h"
#include "engine/core/result.h"
#include "engine/spec/json_fields.h"

// What `lockstep serve` is asked and what it answers, for both ends: whoever changes a message changes it here. A
// question is a line {"id":7,"request":"plan",…}, its reply a line that repeats the id and has either the answer's keys
// or "problems". Plain values; keys are snake_case.
namespace lockstep {

// A problem with its words, for readers that do not have the catalogue. Reading needs none of the words.
struct ToldProblem {
    Problem problem;
    std::string what, remedy;
    bool operator==(const ToldProblem&) const = default;
};

// ---- What there is -------------------------------------------------------------------------------------------------

struct HelloAnswer {
    std::string version;  // of the program
};

struct OfferedDevice {
    DeviceInfo info;       // without its facts
    std::string facts;     // temperature, power, links… of a card just now, in words; empty: nothing is known
    double bf16Speed = 0;  // of products of matrices, fp32's being 1; 0: unknown
};
struct MissingBackend {
    std::string backend;
    std::vector<ToldProblem> problems;
};
struct DevicesAnswer {
    std::vector<OfferedDevice> devices;
    std::vector<MissingBackend> missing;
};

// Something that is chosen by its id, with its settings: a dataset, model, optimizer or schedule.
struct OfferedChoice {
    std::string id, title, meaning;
    std::string state, path, remedy;  // datasets: "present", "needs-path", "absent"; the usual place; what to install
    std::string task;                 // models: what they learn
    ParamSchema params;
};
struct DatasetsAnswer {
    std::vector<OfferedChoice> datasets;
};
struct ModelsAnswer {
    std::vector<OfferedChoice> models;
};
struct SettingsAnswer {
    std::vector<OfferedChoice> optimizers, schedules;
    ParamSchema augmentation;
    ParamSchema trial;  // what belongs to no choice
    JsonText defaults;  // a whole spec
};
struct OfferedPreset {
    std::string name;
    JsonText spec;
};
struct PresetsAnswer {
    std::vector<OfferedPreset> presets;
};

// ---- About data ----------------------------------------------------------------------------------------------------

struct DescribedField {
    std::string name, type;           // "image", "u8"
    std::vector<std::int64_t> shape;  // of one sample
};
struct DescribedData {
    std::string format;  // the dataset's id
    std::vector<DescribedField> fields;
    std::int64_t trainCount = 0, testCount = 0, validationCount = 0;  // samples
    std::vector<std::string> classes;  // empty with their counts where samples have no label
    std::vector<std::int64_t> trainPerClass, testPerClass;
    std::vector<ToldProblem> warnings;
    std::vector<std::int64_t> validationPerClass = {};  // empty: there is no such split
};
struct LeftOutFile {
    std::string file;
    std::vector<ToldProblem> problems;
};
struct InspectAnswer {
    DescribedData data;
    std::vector<LeftOutFile> skipped;
};

// Planar bytes [channels, height, width] in base64, made smaller to at most 64 pixels a side.
struct ShownImage {
    int channels = 0, height = 0, width = 0;
    std::string pixels;
    bool operator==(const ShownImage&) const = default;
};
// `after` is what the first epoch would see, without the normalisation.
struct ShownSample {
    std::int32_t label = 0;
    ShownImage before, after;
};
struct SamplesAnswer {
    DescribedData data;
    std::int64_t skipped = 0;  // files
    std::vector<ShownSample> samples;
};

// A sample that a model was asked about: its image, or what it read of a text; and its file, if it has one of its own.
struct AskedAbout {
    ShownImage image;
    std::string text;
    std::string file = {};
};
struct AskedSamplesAnswer {
    std::vector<std::string> classes;       // that the model knows
    std::vector<AskedAbout> samples;        // in the order of the question; none of data that have changed
    std::vector<std::string> changed = {};  // of the samples asked about, which have changed: see changedSplits()
};

// ---- About a spec --------------------------------------------------------------------------------------------------

struct ValidateAnswer {
    std::vector<ToldProblem> problems;  // empty: the spec is sound
};
struct PlannedLayer {
    std::string name, op, output;
    std::int64_t parameters = 0;
    bool operator==(const PlannedLayer&) const = default;
};
struct PlannedDevice {
    std::string id;
    int threads = 1;
    bool isVirtual = false;
};
struct PlanAnswer {
    std::vector<PlannedLayer> layers;
    std::int64_t parameters = 0, stepsPerEpoch = 0, totalSteps = 0;
    std::uint64_t bytesPerDevice = 0;
    std::vector<PlannedDevice> devices;
    std::uint64_t bytesPerCheckpoint = 0;
    std::int64_t checkpoints = 0;                 // that the trial keeps; 0: the engine does not say
    std::optional<ToldProblem> ofPrecision = {};  // precisionRemark(), without its field
};
// How fast the model trains in each precision that its devices offer, fp32 first.
struct PrecisionRate {
    std::string precision;
    double samplesPerSecond = 0;
};
struct SpeedsAnswer {
    std::vector<PrecisionRate> speeds;
};
struct ScheduleAnswer {
    std::vector<double> epochs, rates;  // points of the learning rate's curve
};

// ---- Questions -----------------------------------------------------------------------------------------------------

struct HelloRequest {
    static constexpr std::string_view kName = "hello";
    using Answer = HelloAnswer;
};
struct DevicesRequest {
    static constexpr std::string_view kName = "devices";
    using Answer = DevicesAnswer;
};
struct DatasetsRequest {
    static constexpr std::string_view kName = "datasets";
    using Answer = DatasetsAnswer;
};
struct ModelsRequest {
    static constexpr std::string_view kName = "models";
    using Answer = ModelsAnswer;
};
struct SettingsRequest {
    static constexpr std::string_view kName = "settings";
    using Answer = SettingsAnswer;
};
struct PresetsRequest {
    static constexpr std::string_view kName = "presets";
    using Answer = PresetsAnswer;
};
// Which dataset lies there.
struct InspectRequest {
    static constexpr std::string_view kName = "inspect";
    using Answer = InspectAnswer;
    std::string path;
};
// All problems of a spec, without opening its data.
struct ValidateRequest {
    static constexpr std::string_view kName = "validate";
    using Answer = ValidateAnswer;
    JsonText spec;
};
struct PlanRequest {
    static constexpr std::string_view kName = "plan";
    using Answer = PlanAnswer;
    JsonText spec;
};
// Trains the model on made samples, in each precision by turns, for some seconds on the spec's devices.
struct SpeedsRequest {
    static constexpr std::string_view kName = "speeds";
    using Answer = SpeedsAnswer;
    JsonText spec;
};
// Images before and after augmentation, and what is to be known of the data.
struct SamplesRequest {
    static constexpr std::string_view kName = "samples";
    using Answer = SamplesAnswer;
    JsonText spec;
    int count = 10;
};
// Samples of what a trained model was evaluated on, by their places there: those of `lockstep evaluate` and of
// Evaluation::answers. Problem "serve.too-many-samples" beyond kMost at once.
struct AskedSamplesRequest {
    static constexpr std::string_view kName = "asked_samples";
    static constexpr std::size_t kMost = 500;
    using Answer = AskedSamplesAnswer;
    JsonText spec;
    // As an Evaluation has them; no data: the spec's own.
    std::string data, split = "test";
    std::vector<std::int64_t> samples;
    std::string dataset = {};      // likewise; empty: it is looked at which dataset lies there
    std::string fingerprint = {};  // fingerprintText() of the evaluation's data; empty: nobody knows what they were
    // What the model was trained on: DataKnown::trainedOn, or the file of a checkpoint that may say it; the spec's own
    // data tell where neither does.
    std::string trainedOn = {}, checkpoint = {};
};
// The learning rate over the epochs. Without data: the steps only decide how finely a warm-up is cut.
struct ScheduleRequest {
    static constexpr std::string_view kName = "schedule";
    using Answer = ScheduleAnswer;
    JsonText spec;
    int points = 200;
    std::int64_t stepsPerEpoch = 100;
};

using ServeRequest = std::variant<HelloRequest, DevicesRequest, DatasetsRequest, ModelsRequest, SettingsRequest,
                                  PresetsRequest, InspectRequest, ValidateRequest, PlanRequest, SpeedsRequest,
                                  SamplesRequest, AskedSamplesRequest, ScheduleRequest>;

// ---- Lines, without their ends -------------------------------------------------------------------------------------

inline constexpr std::size_t kLongestQuestion = 1 << 20;  // bytes

std::string questionLine(std::int64_t id, const ServeRequest& request);

// A question as the server reads it. Problems: "serve.malformed", "serve.too-long", "serve.unknown-request".
struct Question {
    JsonText id{{}};  // as it came; empty: none
    Result<ServeRequest> request;
};
Question questionFrom(std::string_view line);

// An answer, or another of the structs above, as one JSON object.
template <class Message>
std::string jsonOf(const Message& message);

template <class Answer>
std::string replyLine(const JsonText& id, const Answer& answer);
std::string refusalLine(const JsonText& id, const std::vector<ToldProblem>& problems);

// Ahead of an answer that takes long, to whoever wants to hear of it: how far the data are read.
struct ServeProgress {
    std::int64_t done = 0, total = 0;  // see DataProgress
};
std::string progressLine(const JsonText& id, const ServeProgress& progress);
// Of a line that is one; nothing: it is an answer.
std::optional<ServeProgress> progressFrom(const nlohmann::json& line);

// A reply as whoever asked reads it.
template <class Answer>
struct Reply {
    Answer answer;                  // as it was made where there are problems
    std::vector<Problem> problems;  // why there is no answer; of ValidateRequest: the answer
    bool ok() const { return problems.empty(); }
    static Reply refusal(Problem problem) {
        Reply reply;
        reply.problems.push_back(std::move(problem));
        return reply;
    }
};
// "serve.bad-reply" among the problems where it is no object, or a key has another kind of value than it should.
template <class Answer>
Reply<Answer> replyFrom(const nlohmann::json& reply);

}  // namespace lockstep
