#include "engine/model/architectures.h"
#include "engine/model/layers.h"
#include "engine/ops/elementwise.h"

namespace lockstep {

namespace {

// He et al., arXiv 1512.03385, figure 5 left; where the shape changes the shortcut is a 1x1 convolution (option B).
ValueId basicBlock(GraphBuilder& b, ValueId x, int out, int stride, const std::string& name) {
    const auto scope = b.enter(name);
    ValueId y = convLayer(b, x, {.out = out, .stride = stride}, "conv1");
    y = relu(b, batchNormLayer(b, y, "norm1"), "relu1");
    y = batchNormLayer(b, convLayer(b, y, {.out = out}, "conv2"), "norm2");
    ValueId shortcut = x;
    if (stride != 1 || b.typeOf(x).shape[1] != out) {
        shortcut = convLayer(b, x, {.out = out, .kernel = 1, .stride = stride, .padding = 0}, "shortcut/conv");
        shortcut = batchNormLayer(b, shortcut, "shortcut/norm");
    }
    return relu(b, add(b, y, shortcut, "add"), "relu2");
}

ValueId build(GraphBuilder& b, ValueId image, ValueId, const ModelInput& input, const ParamValues&) {
    ValueId x = convNormRelu(b, image, {.out = 64}, "stem");
    int number = 0;
    for (const int width : {64, 128, 256, 512}) {
        for (const int stride : {width == 64 ? 1 : 2, 1}) {
            x = basicBlock(b, x, width, stride, "block" + std::to_string(++number));
        }
    }
    return denseLayer(b, globalAveragePool2d(b, x, "pool"), input.classes, "head");
}

}  // namespace

ModelEntry resnet18CifarModel() {
    return {.name = "resnet18-cifar",
            .meaning = "ResNet-18 with a 3x3 stem, for images of about 32x32 pixels.",
            .params = {},
            .build = build};
}

}  // namespace lockstep
