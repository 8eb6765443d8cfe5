#pragma once
#include <filesystem>

#include "engine/core/result.h"
#include "engine/train/checkpoint.h"
#include "engine/train/environment.h"

namespace lockstep {

// Weights alone, for other programs and for runs that start from them (weights.h): the parameters and batch-norm
// statistics of a checkpoint, without optimizer state and position.
struct WeightsExport {
    bool torchvisionsNames = false;  // of torchvision_names.h, instead of our own
    bool averages = false;           // in place of the parameters, where the run kept them
};

// Safetensors; "model" in its __metadata__ is the model's id. Problems: "spec.unknown-model", "spec.…" of the model's
// settings, "export.no-names", "export.no-averages", "checkpoint.mismatch". Throws EngineError(Io). Gives what it
// wrote.
struct ExportedWeights {
    std::size_t tensors = 0, bytes = 0;
};
Result<ExportedWeights> exportWeights(const Checkpoint& checkpoint, const Environment& environment,
                                      const WeightsExport& request, const std::filesystem::path& file);

}  // namespace lockstep
