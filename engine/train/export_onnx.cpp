#include "engine/train/export_onnx.h"

#include <nlohmann/json.hpp>

#include "engine/core/durable_file.h"
#include "engine/model/onnx_graph.h"
#include "engine/train/replica.h"

namespace lockstep {

namespace {

using Json = nlohmann::json;

std::string textOf(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// What a program elsewhere must know to give the model its samples and to read its answers.
std::map<std::string, std::string> metadataOf(const Checkpoint& checkpoint, const DatasetInfo& trained,
                                              bool normalises) {
    std::map<std::string, std::string> out{{"lockstep.model", checkpoint.spec.model.id},
                                           {"lockstep.step", std::to_string(checkpoint.step)}};
    if (checkpoint.trial > 0) out["lockstep.trial"] = std::to_string(checkpoint.trial);
    if (!findField(trained.fields, "image")) {
        if (!findField(trained.fields, "targets")) out["classes"] = textOf(trained.classes);
        out["tokens"] = "bytes of UTF-8 text; 0 behind the end";
        return out;
    }
    const ImageShape image = trained.image();
    out["classes"] = textOf(trained.classes);
    out["channels"] = image.channels == 1 ? "grey" : "RGB";
    out["width"] = std::to_string(image.width);
    out["height"] = std::to_string(image.height);
    out["mean"] = textOf(trained.mean);
    out["deviation"] = textOf(trained.deviation);
    out["input"] = normalises ? "pixels of 0 to 1" : "(pixels of 0 to 1 - mean) / deviation";
    return out;
}

const HostTensor& readTensor(const Checkpoint& checkpoint, const std::string& name) {
    const auto average = checkpoint.tensors.find(std::string(Replica::kAverage) + name);
    const auto found = average != checkpoint.tensors.end() ? average : checkpoint.tensors.find(name);
    if (found == checkpoint.tensors.end() || found->second.type().dtype != DType::F32)
        throw ProblemError({"checkpoint", "checkpoint.mismatch", {name, "there, as f32", "absent"}});
    return found->second;
}

}  // namespace

std::string onnxOf(const Checkpoint& checkpoint, const ResolvedSpec& resolved, const DatasetInfo& trained,
                   const OnnxOptions& options) {
    const bool isImage = findField(trained.fields, "image") != nullptr;
    if (options.normalises && !isImage) throw ProblemError({"--normalise", "export.no-pixels", {}});
    const bool normalises = options.normalises;
    OnnxRequest request{
        .model = *resolved.model,
        .params = resolved.modelParams,
        .input = modelInput(*resolved.model, trained, 1, 0),
        .tensor = [&](const std::string& name) -> const HostTensor& { return readTensor(checkpoint, name); },
        .foldsNorms = options.foldsNorms,
        .metadata = metadataOf(checkpoint, trained, normalises)};
    if (normalises) {
        request.mean = trained.mean;
        request.deviation = trained.deviation;
    }
    return onnxFile(request);
}

std::size_t exportOnnx(const Checkpoint& checkpoint, const ResolvedSpec& resolved, const DatasetInfo& trained,
                       const OnnxOptions& options, const std::filesystem::path& file) {
    const std::string bytes = onnxOf(checkpoint, resolved, trained, options);
    writeNamedFile(file, bytes);
    return bytes.size();
}

}  // namespace lockstep
