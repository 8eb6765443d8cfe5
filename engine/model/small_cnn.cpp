#include "engine/model/architectures.h"
#include "engine/model/layers.h"
#include "engine/ops/elementwise.h"

namespace lockstep {

namespace {

// VGG's pattern (arXiv 1409.1556) at a tenth of its depth and width, with batch norm.
ValueId buildSmallCnn(GraphBuilder& b, ValueId image, ValueId, const ModelInput& input, const ParamValues&) {
    ValueId x = image;
    int number = 0;
    for (const int width : {32, 64, 128}) {
        for (int i = 0; i < 2; ++i) x = convNormRelu(b, x, {.out = width}, "block" + std::to_string(++number));
        x = maxPool2d(b, x, {}, "pool" + std::to_string(number / 2));
    }
    return denseLayer(b, flatten(b, x, "flatten"), input.classes, "head");
}

}  // namespace

ModelEntry smallCnnModel() {
    return {.name = "small-cnn",
            .meaning = "Six 3x3 convolutions with batch norm, a maximum pooling after every second, one dense layer.",
            .params = {},
            .build = buildSmallCnn,
            .usual = kCifarImages};
}

}  // namespace lockstep
