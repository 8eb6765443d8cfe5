#pragma once
#include <set>
#include <string>
#include <vector>

#include "engine/model/registry.h"

namespace lockstep {

// A model as PyTorch's modules. Parameters and statistics have our names with dots for slashes: "block1.conv1.weight".
struct PytorchModel {
    std::string classes;              // Python: a class for each kind of block, then `Net`, whose forward gives logits
    std::string firstWeights;         // the body of a function of `net`: what does not start as PyTorch starts it
    std::vector<std::string> inputs;  // what forward takes: "image", or "tokens" and perhaps "length"
    std::set<std::string> functions;  // that it calls and that are no part of PyTorch: "attention", "sequence_mean"
    std::vector<std::string> tables;  // parameters of two extents or more that weight decay leaves out
    bool hasNorms = false, hasDropout = false;  // hasNorms: over the batch
};

// Written from the graph that is trained, node by node; blocks that differ in sizes alone share a class. `input`: of
// what is trained on; batch, smoothing and pixels do not count. Throws ProblemError "export.pytorch-unknown-op" and
// those of buildForward().
PytorchModel pytorchModel(const ModelEntry& model, const ParamValues& params, ModelInput input);

// Text as a literal of Python's, in UTF-8 whatever the bytes are.
std::string pythonText(const std::string& text);

}  // namespace lockstep
