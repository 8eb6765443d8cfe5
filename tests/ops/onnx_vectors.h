#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/tensor.h"

namespace lockstep::test {

// One published operator vector of ONNX: a model of a single node, its inputs in the node's order and what must come
// out; an absent input has no elements.
struct OnnxVector {
    std::string whyNot;                                  // "": it was read
    std::string name;                                    // "node/test_relu"
    std::string op;                                      // "Relu"; "" of more than one node
    std::map<std::string, std::vector<double>> numbers;  // attributes
    std::map<std::string, std::string> texts;
    std::vector<HostTensor> inputs, outputs;  // a scalar has shape {1}

    double number(const std::string& attribute, double fallback) const;
    std::string text(const std::string& attribute) const;  // "" when absent
};

// Where Debian's libonnx-testdata puts them; empty when the package is not installed.
std::filesystem::path onnxFolder();

// All vectors below the folder, sorted by name. Read are those of one node with tensors of f32, f64, i32, i64 or u8.
std::vector<OnnxVector> readOnnxVectors(const std::filesystem::path& folder);

}  // namespace lockstep::test
