#pragma once
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/plan/compile.h"

namespace lockstep::sample {

constexpr int kChannels = 3, kExtent = 16, kClasses = 10;

// A built-in model on small images.
Graph model(const std::string& name, std::int64_t batch, bool training, bool synchronises = false,
            const std::vector<std::string>& frozen = {});

// A network from layer codes, whatever they are: every sequence gives a legal graph. Codes: see sample_programs.cpp.
Graph fromCodes(const std::vector<int>& codes, std::int64_t batch, bool training, bool synchronises = false);
constexpr int kLayerCodes = 8;

// Logits = dense(image) + a + reshape(b): one tensor is the gradient of both parameters and is read again further on.
Graph sharedGradient(std::int64_t batch);

// Two dense layers whose weights are ReLU of their parameters.
Graph rectifiedWeights(std::int64_t batch, bool training);

UpdateRule averaging();  // sgd, with averages

BatchLayout batchLayout(std::int64_t capacity);

// Accepts what the null backend accepts, with a few traits of its own.
struct Traits {
    DType compute = DType::F32;
    bool hostMemory = true;
    bool padsWeights = false;     // parameters of rank 2 and more, and their gradients, are padded to 1 KiB
    bool forgetsLayouts = false;  // pads by the batch, whatever layouts it is given
};
std::unique_ptr<Backend> backend(const Traits& traits);

Program training(const Graph& forward, const CompileOptions& options = {}, const Traits& traits = {},
                 const UpdateRule& rule = {});
Program evaluation(const Graph& forward, const CompileOptions& options = {}, const Traits& traits = {});
std::int64_t batchOf(const Graph& forward);

}  // namespace lockstep::sample
