#pragma once
#include "tests/ops/onnx_vectors.h"
#include "tests/support/op_cases.h"
#include "tests/support/update_cases.h"

namespace lockstep::test {

// The same mathematics in our terms, where there is one. What maps:
//   Conv (1-d as images of one row), AveragePool and MaxPool likewise (the maximum's index counts differently and is
//   left out), GlobalAveragePool, Gemm with a bias per output, BatchNormalization, Relu, Add and Sum of two equal
//   shapes, Flatten, Reshape, Cast between floats; SoftmaxCrossEntropyLoss without class weights, as a sum over all
//   positions; LogSoftmax and Softmax over the last axis, through the loss and its gradient; Momentum (both modes) and
//   Adam.
// What does not: volumes, padding that differs between the sides, ceil mode, dilated pooling, broadcasting, class
// weights, ignored labels, half precision; NegativeLogLikelihoodLoss, whose vectors are no log-probabilities; Dropout,
// whose mask is another generator's; TopK, which lists where we count; Adagrad, which is no update rule here.
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

}  // namespace lockstep::test
