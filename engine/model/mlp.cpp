#include "engine/model/architectures.h"
#include "engine/model/layers.h"
#include "engine/ops/dropout.h"
#include "engine/ops/elementwise.h"

namespace lockstep {

namespace {

ValueId buildMlp(GraphBuilder& b, ValueId image, ValueId ids, const ModelInput& input, const ParamValues& params) {
    const int width = static_cast<int>(params.integer("width"));
    const double rate = params.number("dropout");
    ValueId x = flatten(b, image, "flatten");
    for (int layer = 1; layer <= params.integer("depth"); ++layer) {
        const std::string number = std::to_string(layer);
        x = relu(b, denseLayer(b, x, width, "dense" + number), "relu" + number);
        if (rate > 0) x = dropout(b, x, ids, rate, "dropout" + number);
    }
    return denseLayer(b, x, input.classes, "head");
}

}  // namespace

ModelEntry mlpModel() {
    return {.name = "mlp",
            .meaning = "Fully connected layers with ReLU: the simplest network, for images of any size.",
            .params = {{"width", std::int64_t{256}, 1, 65536, {}, "neurons", "How many neurons each hidden layer has."},
                       {"depth", std::int64_t{2}, 0, 64, {}, "layers", "How many hidden layers there are."},
                       {"dropout", 0.0, 0, 0.95, {}, "", "The share of neurons left out at random while training."}},
            .build = buildMlp};
}

}  // namespace lockstep
