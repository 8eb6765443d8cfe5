#include <algorithm>
#include <cmath>

#include "engine/core/error.h"
#include "engine/ops/rules.h"
#include "engine/train/worker.h"

// What ranks make of an update that the gate has skipped.

namespace lockstep {

namespace {

constexpr int kMostSkipped = 10;  // updates in a row

bool isFinite(std::span<const float> x) {
    return std::ranges::all_of(x, [](float v) { return std::isfinite(v); });
}
bool isFinite(std::span<const double> x) {
    return std::ranges::all_of(x, [](double v) { return std::isfinite(v); });
}
bool isFinite(const HostTensor& tensor) {
    if (const DType half = tensor.type().dtype; isHalf(half)) {
        const unsigned exponent = half == DType::F16 ? 0x7c00 : 0x7f80;
        return std::ranges::all_of(tensor.as<std::uint16_t>(), [=](unsigned v) { return (v & exponent) != exponent; });
    }
    return tensor.type().dtype == DType::F64 ? isFinite(tensor.as<double>()) : isFinite(tensor.as<float>());
}

}  // namespace

// All ranks see the same gate. Rank 0 says what it was; where that ends the run, the others wait to be told to leave.
void Worker::skipUpdate(std::size_t which) {
    const bool isBlank = m_run.bad.count() > 0 && m_replica->scalar(which, "weight") == 0;
    if (isBlank) return;  // none of its samples could be read, which is told of by itself
    m_hasRead = true;
    const double lossSum = m_replica->scalar(which, "loss_sum"), scale = m_lossScale.value();
    const std::string update = std::to_string(m_step + 1), epoch = std::to_string(m_epoch + 1);
    const auto warn = [&](Problem problem) { m_run.events.post(Message{"warning", std::move(problem)}); };
    if (std::isfinite(lossSum) && m_lossScale.lower()) {
        if (!leads()) return;
        return warn({"loss scale",
                     "run.loss-scale-lowered",
                     {update, epoch, numberText(scale), numberText(m_lossScale.value())}});
    }
    checkReplicas();  // a replica that went wrong may be why
    if (m_leaves) return;
    ++m_skipped;
    const bool stops = spec().onNonFinite == "stop" || m_skipped >= kMostSkipped;
    if (stops && !leads()) m_group.barrier();
    if (!leads()) return;
    const std::string where = firstNonFinite(lossSum);
    if (!stops) return warn({where, "run.update-skipped", {update, epoch}});
    const std::string row = m_skipped > 1 ? " for " + std::to_string(m_skipped) + " times in a row" : "";
    throw EngineError(EngineError::Kind::NonFinite, where,
                      "not a finite number in update " + update + ", epoch " + epoch + row + ", with learning rate " +
                          numberText(learningRate(m_step)) + "; the update was not applied");
}

std::string Worker::firstNonFinite(double lossSum) {
    if (!std::isfinite(lossSum)) return "loss";
    for (const StorageEntry& parameter : programs().training->storage->parameters) {
        if (!isFinite(m_replica->readGradient(parameter.name))) return "gradient of " + parameter.name;
    }
    return "gradient norm";
}

}  // namespace lockstep
