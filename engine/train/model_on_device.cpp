#include "engine/train/model_on_device.h"

#include <algorithm>

#include "engine/collective/host_group.h"

namespace lockstep {

namespace {

// The names of what evaluation reads.
std::vector<std::string> namesRead(const StoragePlan& storage) {
    std::vector<std::string> names;
    for (const auto* entries : {&storage.parameters, &storage.frozen, &storage.buffers}) {
        for (const StorageEntry& entry : *entries) names.push_back(entry.name);
    }
    for (const StorageEntry& entry : storage.parameters) {
        if (storage.averages) names.push_back(std::string(Replica::kAverage) + entry.name);
    }
    return names;
}

// A world of that device alone. The nominal training program decides how parameters are stored; its data are as many
// samples as it takes.
RunPlan planFor(const ResolvedSpec& alone, const ModelRequest& request) {
    DatasetInfo train = request.trained, asked = request.trained;
    train.count = request.batch;
    asked.count = request.samples;
    return planRun(alone, train, asked);
}

ResolvedSpec aloneOf(const ModelRequest& request) {
    ResolvedSpec alone = request.resolved;
    alone.devices = {request.resolved.devices[static_cast<std::size_t>(request.rank)]};
    alone.shares.clear();
    alone.spec.mode = "fast";
    alone.spec.batchNorm = "local";
    alone.spec.accumulation = 1;
    alone.spec.batch = request.batch;
    alone.spec.sampleLength = 0;
    return alone;
}

}  // namespace

void restoreForEvaluation(Replica& replica, const StoragePlan& storage, const Checkpoint& checkpoint) {
    const auto isAverage = [](const std::string& name) { return name.starts_with(Replica::kAverage); };
    const bool averages =
        std::ranges::any_of(checkpoint.tensors, [&](const auto& each) { return isAverage(each.first); });
    for (const std::string& name : namesRead(storage)) {
        if (!averages && isAverage(name)) continue;
        const auto tensor = checkpoint.tensors.find(name);
        if (tensor == checkpoint.tensors.end())
            throw ProblemError({"checkpoint", "checkpoint.mismatch", {name, "there", "absent"}});
        replica.write(name, tensor->second);
    }
    if (!averages) replica.startAverages();
}

void ModelOnDevice::close() noexcept {
    if (replica) replica->endCopies();
    replica.reset();
    device.reset();
}

ModelOnDevice openModel(const ModelRequest& request) {
    const ResolvedSpec alone = aloneOf(request);
    ModelOnDevice model{planFor(alone, request), alone.backend->open(alone.devices.front()), makeHostGroup(1), {}};
    const auto& last = model.programs().lastEvaluation;
    model.replica = std::make_unique<Replica>(*model.device, *model.alone.front(),
                                              std::vector{model.programs().evaluation, last}, nullptr);
    model.replica->initialize(alone.spec.seed);
    restoreForEvaluation(*model.replica, *model.programs().evaluation->storage, request.checkpoint);
    return model;
}

}  // namespace lockstep
