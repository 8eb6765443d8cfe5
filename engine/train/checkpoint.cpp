#include "engine/train/checkpoint.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "engine/spec/data_known.h"
#include "engine/spec/json_fields.h"
#include "engine/train/safetensors.h"
#include "engine/train/trained_on.h"

namespace lockstep {

namespace {

using Json = nlohmann::json;

constexpr const char* kTrainedOn = "trained_on";

std::string positionOf(const Checkpoint& checkpoint) {
    Json position{{"trial", checkpoint.trial},
                  {"step", checkpoint.step},
                  {"epoch", checkpoint.epoch},
                  {"step_in_epoch", checkpoint.stepInEpoch},
                  {"best_accuracy", checkpoint.bestAccuracy},
                  {"epoch_sums", checkpoint.epochSums},
                  {"train_seconds", checkpoint.trainSeconds},
                  {"loss_scale", checkpoint.lossScale},
                  {"loss_scale_updates", checkpoint.lossScaleUpdates}};
    if (checkpoint.lowestLoss) position["lowest_loss"] = *checkpoint.lowestLoss;
    if (checkpoint.score)
        position["score"] = {{"metric", checkpoint.score->metric}, {"value", checkpoint.score->value}};
    if (checkpoint.data) position["data"] = Json::parse(fingerprintText(*checkpoint.data));
    return position.dump();
}

// Reads the position; every missing or odd value is the same problem, naming its key.
class PositionReader {
public:
    PositionReader(const std::filesystem::path& file, const std::string& text)
        : m_file(file), m_json(Json::parse(text, nullptr, false)) {
        if (!m_json.is_object()) bad("position");
    }

    std::int64_t count(const char* key) const { return count(at(key), key); }

    double number(const char* key) const { return number(at(key), key); }
    bool has(const char* key) const { return m_json.contains(key); }

    std::map<std::string, double> numbers(const char* key) const {
        std::map<std::string, double> out;
        if (!at(key).is_object()) bad(key);
        for (const auto& [name, value] : at(key).items()) out[name] = number(value, key);
        return out;
    }

    std::optional<CheckpointScore> score(const char* key) const {
        if (!has(key)) return std::nullopt;
        const Json& score = at(key);
        if (!score.is_object() || !score.contains("metric") || !score.contains("value")) bad(key);
        if (!score["metric"].is_string()) bad(key);
        return CheckpointScore{score["metric"].get<std::string>(), number(score["value"], key)};
    }

    std::optional<DataFingerprint> fingerprint(const char* key) const {
        if (!has(key)) return std::nullopt;
        try {
            return fingerprintFrom(at(key));
        } catch (const BadJsonField&) {
            bad(key);
        }
    }

private:
    [[noreturn]] void bad(const std::string& key) const {
        throw ProblemError({m_file.string(), "checkpoint.malformed", {"its \"" + key + "\" is missing or not valid"}});
    }
    const Json& at(const char* key) const {
        const auto found = m_json.find(key);
        if (found == m_json.end()) bad(key);
        return *found;
    }
    std::int64_t count(const Json& value, const char* key) const {
        if (!value.is_number_unsigned() || value.get<std::uint64_t>() > (std::uint64_t{1} << 62)) bad(key);
        return value.get<std::int64_t>();
    }
    double number(const Json& value, const char* key) const {
        if (!value.is_number() || !std::isfinite(value.get<double>())) bad(key);
        return value.get<double>();
    }

    const std::filesystem::path& m_file;
    Json m_json;
};

void readPosition(const PositionReader& reader, Checkpoint& checkpoint) {
    checkpoint.trial = reader.count("trial");
    checkpoint.step = reader.count("step");
    checkpoint.epoch = reader.count("epoch");
    checkpoint.stepInEpoch = reader.count("step_in_epoch");
    checkpoint.bestAccuracy = reader.number("best_accuracy");
    if (reader.has("lowest_loss")) checkpoint.lowestLoss = reader.number("lowest_loss");
    checkpoint.epochSums = reader.numbers("epoch_sums");
    checkpoint.trainSeconds = reader.number("train_seconds");
    checkpoint.data = reader.fingerprint("data");
    checkpoint.score = reader.score("score");
    if (!reader.has("loss_scale")) return;  // a file of before there was one
    checkpoint.lossScale = reader.number("loss_scale");
    checkpoint.lossScaleUpdates = reader.count("loss_scale_updates");
}

Result<Checkpoint> positionIn(const std::filesystem::path& file, std::map<std::string, std::string>& metadata) {
    if (metadata["format"] != kCheckpointFormat)
        return Problem{file.string(), "checkpoint.foreign", {kCheckpointFormat}};
    const Result<TrialSpec> spec = trialSpecFromJson(metadata["spec"], file.string());
    if (!spec.ok()) return spec.problems();
    Checkpoint checkpoint;
    checkpoint.spec = spec.value();
    try {
        readPosition(PositionReader(file, metadata["position"]), checkpoint);
    } catch (const ProblemError& error) {
        return error.problem();
    }
    if (!metadata.contains(kTrainedOn)) return checkpoint;
    checkpoint.trainedOn = trainedOnFrom(metadata[kTrainedOn]);
    if (!checkpoint.trainedOn)
        return Problem{file.string(), "checkpoint.malformed", {"its \"trained_on\" is not valid"}};
    return checkpoint;
}

}  // namespace

void writeCheckpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
    std::map<std::string, std::string> metadata{
        {"format", kCheckpointFormat}, {"spec", toJson(checkpoint.spec)}, {"position", positionOf(checkpoint)}};
    if (checkpoint.trainedOn) metadata.emplace(kTrainedOn, trainedOnText(*checkpoint.trainedOn));
    writeTensorFile(file, metadata, checkpoint.tensors);
}

Result<Checkpoint> readCheckpoint(const std::filesystem::path& file) {
    Result<TensorFile> read = readTensorFile(file);
    if (!read.ok()) return read.problems();
    TensorFile content = std::move(read).value();
    Result<Checkpoint> checkpoint = positionIn(file, content.metadata);
    if (checkpoint.ok()) checkpoint.value().tensors = std::move(content.tensors);
    return checkpoint;
}

Result<Checkpoint> readCheckpointPosition(const std::filesystem::path& file) {
    Result<TensorFileHeader> header = readTensorFileHeader(file);
    if (!header.ok()) return header.problems();
    return positionIn(file, header.value().metadata);
}

}  // namespace lockstep
