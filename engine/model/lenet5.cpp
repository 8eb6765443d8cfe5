#include "engine/model/architectures.h"
#include "engine/model/layers.h"
#include "engine/ops/elementwise.h"

namespace lockstep {

namespace {

// LeCun et al., "Gradient-based learning applied to document recognition", Proc. IEEE 1998, in its modern form: ReLU,
// maximum pooling, and padding that makes 28x28 images fit; wider on demand.
ValueId buildLeNet5(GraphBuilder& b, ValueId image, ValueId, const ModelInput& input, const ParamValues& params) {
    const int times = static_cast<int>(params.integer("width"));
    ValueId x = convLayer(b, image, {.out = 6 * times, .kernel = 5, .padding = 2, .bias = true}, "conv1");
    x = maxPool2d(b, relu(b, x, "relu1"), {}, "pool1");
    x = convLayer(b, x, {.out = 16 * times, .kernel = 5, .padding = 0, .bias = true}, "conv2");
    x = maxPool2d(b, relu(b, x, "relu2"), {}, "pool2");
    x = flatten(b, x, "flatten");
    x = relu(b, denseLayer(b, x, 120 * times, "dense1"), "relu3");
    x = relu(b, denseLayer(b, x, 84 * times, "dense2"), "relu4");
    return denseLayer(b, x, input.classes, "head");
}

}  // namespace

ModelEntry lenet5Model() {
    return {
        .name = "lenet5",
        .meaning = "LeNet-5 with ReLU and maximum pooling: two convolutions and three dense layers.",
        .params = {{"width", std::int64_t{1}, 1, 64, {}, "times", "How many times wider the layers are than LeCun's."}},
        .build = buildLeNet5};
}

}  // namespace lockstep
