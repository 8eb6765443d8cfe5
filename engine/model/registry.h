#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/param_schema.h"
#include "engine/core/result.h"
#include "engine/graph/graph.h"
#include "engine/graph/graph_builder.h"

namespace lockstep {

// What a model learns, and from which fields of a sample (a token is a byte; T is the same for all samples):
//   ImageClasses   image u8 [C,H,W], as the loader normalises it; label i32 [1]
//   NextTokens     tokens i32 [T]; targets i32 [T], the token that follows each, -1: does not count. The classes are
//   the
//                  tokens.
//   TextClasses    tokens i32 [T]; length i32 [1], from 1: the tokens behind it are padding; label i32 [1]
enum class ModelTask { ImageClasses, NextTokens, TextClasses };
inline constexpr int kByteTokens = 256;  // how many there are
std::string_view text(ModelTask task);   // "image-classes", "next-tokens", "text-classes"; stable, used in events

struct ModelInput {
    std::int64_t batch = 1;
    int channels = 1, height = 0, width = 0, classes = 0;
    double labelSmoothing = 0;      // of the loss
    bool synchronisesNorm = false;  // batch norm is over the batch of all ranks: synchronised_norm.h
    int tokens = 0;                 // T, of models that read tokens
    bool mixes = false;             // samples in training are mixtures of two: augment.h
    // Images that are made on the device: of the pixels in the batch, or of the `kept` images there, if there are any.
    // Mean and deviation are the dataset's.
    struct Pixels {
        std::int64_t kept = 0;
        std::vector<float> mean, deviation;
    };
    std::optional<Pixels> pixels = {};
    // Layers that are not trained, each with all below it: "stem", "block3/conv1". Their parameters get neither
    // gradient nor update, and their batch norms use the running statistics, which stay as they are; dropout stays on.
    std::vector<std::string> frozen = {};
    bool mayMiss = false;  // labels of -1 are of samples that could not be read, and count for nothing
};

// A layer that has tensors, as it is called here and elsewhere.
struct LayerName {
    std::string ours, theirs;
};
using LayerNames = std::vector<LayerName>;

// An architecture: appends layers from the image f32 [N,C,H,W] or the tokens i32 [N,T] to the logits [N, classes], of
// NextTokens [N, T, classes]. Throws ProblemError when the image or the sequence does not fit: see image_size.h and
// token_model.h.
//
// Parameters and buffers are named after the places of their layers, which are stable: checkpoints and weight files
// hold them. A layer has "weight" and, if it has one, "bias"; a norm also "running_mean" and "running_var" (layers.h).
// No name has a dot.
//   stem/conv, stem/norm           the first convolution
//   block<n>/…                     residual networks: conv<i>, norm<i>, shortcut/conv, shortcut/norm; n counts through
//   all
//                                  stages from 1 (in MobileNetV2: expand, depthwise and project, each /conv and /norm)
//   stage<s>/block<n>/conv, …/norm VGG: n counts within the stage, whose last layer is a pooling
//   dense1, dense2                 hidden dense layers
//   last/conv, last/norm           what follows the blocks where something does
//   patches, embedding, position   transformers: the convolution that makes tokens of an image, the table that makes
//   vectors
//                                  of tokens, and the table of positions
//   block<n>/…                     transformers: norm1, qkv (queries, keys and values in one), out, norm2, dense1,
//   dense2 norm                           transformers: the last norm head                           the last dense
//   layer, the only one whose shape depends on the number of classes; of
//                                  NextTokens it has no bias, and where it is tied it is the embedding
struct ModelEntry {
    std::string name;     // "resnet18-cifar"
    std::string meaning;  // one sentence
    ParamSchema params;
    std::function<ValueId(GraphBuilder& b, ValueId sample, ValueId ids, const ModelInput& input,
                          const ParamValues& params)>
        build;
    ModelInput usual{.channels = 1, .height = 28, .width = 28, .classes = 10};  // what it is for, where no dataset says
    ModelTask task = ModelTask::ImageClasses;
    // torchvision's names for these layers of the model, which come in the graph's order: torchvision_names.h. Null: it
    // has no such model.
    LayerNames (*torchvisionLayers)(const std::vector<std::string>& layers) = nullptr;
};

// What a model with these settings is for where no dataset says: of texts no more than its context.
ModelInput usualInput(const ModelEntry& model, const ParamValues& params);

const std::vector<ModelEntry>& builtinModels();
const ModelEntry* findModel(std::span<const ModelEntry> models, std::string_view name);

// The whole forward graph: the task's fields as inputs (the image f32, or what it is made of: pixels.h), and ids i64
// [N]; the model; softmax cross-entropy and top-1/top-5 counts over all samples or tokens that count; verified. In
// training a graph that mixes has label2 i32 [N] and lambda f32 [N], too: mixed_loss.h. Training and evaluation graphs
// name parameters and buffers alike. Outputs "loss_sum", "weight", "correct1", "correct5" (only with more than 5
// classes), "logits". Problems of what is frozen, in that field: "model.unknown-layer", "model.nothing-to-train".
Result<Graph> buildForward(const ModelEntry& model, const ParamValues& params, const ModelInput& input, bool training);

// One row per operation from the sample to the logits, for `models`, `program` and the window; `output` is the shape
// for one sample: "64x14x14".
struct LayerRow {
    std::string name, op, output;
    std::int64_t parameters = 0;
};
std::vector<LayerRow> layerTable(const Graph& forward);
std::int64_t parameterCount(const Graph& forward);  // of those that are trained, as in the rows
// Of convolutions and products of matrices, for the whole batch; training takes three times as many.
double forwardFlops(const Graph& forward);

}  // namespace lockstep
