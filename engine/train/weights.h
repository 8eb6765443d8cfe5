#pragma once
#include <map>
#include <string>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/train/plan_run.h"

namespace lockstep {

// What a model starts from where its spec names a weights file: safetensors with the names of model/registry.h or those
// of torchvision_names.h, whichever of them it has; floating point of any width. A checkpoint is a weights file, too:
// its parameters and statistics are taken. All tensors of the model must be there and no others, but for the head where
// that may start fresh (TrialSpec::newHead): then it is taken whole or not at all.
using WeightTensors = std::map<std::string, HostTensor>;

// By our names. Throws ProblemError in the field "weights", before anything has been taken over: "weights.unreadable",
// "weights.not-safetensors", "weights.truncated", "weights.malformed", "weights.altered", "weights.other-model",
// "weights.classes", "weights.shape", "weights.not-float".
WeightTensors readWeights(const ResolvedSpec& resolved, const DatasetInfo& data);

// The same problems, as far as the file's header tells; empty: none. Without data only names are compared.
std::vector<Problem> weightsProblems(const ResolvedSpec& resolved);
std::vector<Problem> weightsProblems(const ResolvedSpec& resolved, const DatasetInfo& data);

}  // namespace lockstep
