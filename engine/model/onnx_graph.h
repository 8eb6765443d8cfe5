#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/model/registry.h"

namespace lockstep {

struct OnnxRequest {
    const ModelEntry& model;
    const ParamValues& params;
    ModelInput input;                                             // the batch does not count
    std::function<const HostTensor&(const std::string&)> tensor;  // f32, of a parameter or a running statistic
    bool foldsNorms = true;  // batch norms become part of the convolutions before them
    // The model takes pixels of 0 to 1 and normalises them itself; empty: it takes normalised images.
    std::vector<float> mean = {}, deviation = {};
    std::map<std::string, std::string> metadata = {};
};

// The model from its sample to its logits as an ONNX file (github.com/onnx/onnx, onnx.proto; IR version 7, opset 13),
// for any number of samples: input "image" f32 [N,C,H,W] or "tokens" i32 [N,T] (with "length" i32 [N] where the model
// reads it), output "logits". Throws ProblemError "export.onnx-too-large" beyond 2 GiB, which protocol buffers end at.
std::string onnxFile(const OnnxRequest& request);

}  // namespace lockstep
