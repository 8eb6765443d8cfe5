#pragma once
#include "tests/ops/onnx_vectors.h"
#include "tests/support/op_cases.h"
#include "tests/support/update_cases.h"

namespace lockstep::test {

// The same mathematics in our terms, where there is one. What maps:
//   Conv (1-d as images of one row), AveragePool and MaxPool likewise (the maximum's index counts differently and is
//   left out), GlobalAveragePool, Gemm with a bias per output, MatMul of two matrices, BatchNormalization,
//   LayerNormalization, Relu, Add and Sum of two terms of which the second has the first's shape or the end of it,
//   Flatten, Reshape, Squeeze, Unsqueeze, Transpose of two groups of extents, Cast between floats, Dropout where it
//   drops nothing; SoftmaxCrossEntropyLoss without class weights, as a sum over all positions; LogSoftmax and Softmax
//   over the last axis, through the loss and its gradient; Sigmoid and Erf, through SiLU and GELU; Momentum (both
//   modes) and Adam.
// onnx_cases.txt lists every vector: those that run by their names alone, the others with what keeps them from it.
struct OnnxCase {
    std::string whyNot{};  // "": it maps
    OpCase opCase{};
    struct Expected {
        std::size_t output;
        HostTensor values;
    };
    std::vector<Expected> expected{};
};

bool isOurs(const OnnxVector& vector);  // an op of this project's kind, mapped or not; not an update
OnnxCase translated(const OnnxVector& vector);

bool isUpdate(const OnnxVector& vector);
struct OnnxUpdate {
    std::string whyNot{};
    UpdateCase updateCase{};
    std::vector<double> weights{};              // expected
    std::vector<std::vector<double>> states{};  // expected
};
OnnxUpdate translatedUpdate(const OnnxVector& vector);

// What the list says of a vector; of an op that is not ours once for all its vectors.
std::string lineOf(const OnnxVector& vector);

}  // namespace lockstep::test
