#include "engine/train/export_weights.h"

#include <algorithm>

#include "engine/model/torchvision_names.h"
#include "engine/train/plan_run.h"
#include "engine/train/replica.h"
#include "engine/train/safetensors.h"
#include "engine/train/trained_on.h"

namespace lockstep {

namespace {

using Tensors = std::map<std::string, HostTensor>;

std::string averageOf(const std::string& name) { return std::string(Replica::kAverage) + name; }

// Statistics and frozen parameters have no averages: they are what evaluation reads.
const HostTensor& tensorOf(const Checkpoint& checkpoint, const std::string& name, bool averages) {
    const auto average = averages ? checkpoint.tensors.find(averageOf(name)) : checkpoint.tensors.end();
    const auto found = average != checkpoint.tensors.end() ? average : checkpoint.tensors.find(name);
    if (found == checkpoint.tensors.end())
        throw ProblemError({"checkpoint", "checkpoint.mismatch", {name, "there", "absent"}});
    return found->second;
}

const ModelEntry& modelOf(const Checkpoint& checkpoint, const Environment& environment) {
    const std::string& id = checkpoint.spec.model.id;
    if (const ModelEntry* model = environment.model(id)) return *model;
    std::string known;
    for (const ModelEntry& each : environment.models()) known += (known.empty() ? "" : ", ") + each.name;
    throw ProblemError({"model", "spec.unknown-model", {id, known}});
}

// The names do not depend on the data.
Graph forwardOf(const ModelEntry& model, const Checkpoint& checkpoint) {
    const auto params = ParamValues::from(model.params, checkpoint.spec.model.params, "model");
    if (!params.ok()) throw ProblemError(params.problems().front());
    const ModelInput input =
        checkpoint.trainedOn ? modelInput(model, *checkpoint.trainedOn, 1, 0) : usualInput(model, params.value());
    auto forward = buildForward(model, params.value(), input, false);
    if (!forward.ok()) throw ProblemError(forward.problems().front());
    return std::move(forward).value();
}

Tensors tensorsOf(const Checkpoint& checkpoint, const ModelEntry& model, const WeightsExport& request) {
    const auto isAverage = [](const auto& each) { return each.first.starts_with(Replica::kAverage); };
    if (request.averages && std::ranges::none_of(checkpoint.tensors, isAverage))
        throw ProblemError({"checkpoint", "export.no-averages", {}});
    const Graph forward = forwardOf(model, checkpoint);
    const auto theirs = torchvisionNames(model, forward);
    if (request.torchvisionsNames && theirs.empty()) throw ProblemError({"model", "export.no-names", {model.name}});
    Tensors tensors;
    for (const std::string& name : tensorNames(forward))
        tensors.emplace(request.torchvisionsNames ? theirs.at(name) : name,
                        tensorOf(checkpoint, name, request.averages));
    return tensors;
}

}  // namespace

Result<ExportedWeights> exportWeights(const Checkpoint& checkpoint, const Environment& environment,
                                      const WeightsExport& request, const std::filesystem::path& file) {
    try {
        const ModelEntry& model = modelOf(checkpoint, environment);
        const Tensors tensors = tensorsOf(checkpoint, model, request);
        const char* format = request.torchvisionsNames ? "pt" : "lockstep-weights-1";
        std::map<std::string, std::string> metadata{{"format", format}, {"model", model.name}};
        if (checkpoint.trainedOn) metadata.emplace("trained_on", trainedOnText(*checkpoint.trainedOn));
        writeNamedTensorFile(file, metadata, tensors);
        ExportedWeights written{tensors.size(), 0};
        for (const auto& [name, tensor] : tensors) written.bytes += tensor.bytes();
        return written;
    } catch (const ProblemError& error) {
        return error.problem();
    }
}

}  // namespace lockstep
