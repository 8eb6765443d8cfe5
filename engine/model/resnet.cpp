#include "engine/model/architectures.h"

#include <array>

#include "engine/model/image_size.h"
#include "engine/model/layers.h"
#include "engine/model/torchvision_names.h"
#include "engine/ops/elementwise.h"

namespace lockstep {

namespace {

// He et al., arXiv 1512.03385, table 1 and figure 5. Bottlenecks halve the image in their 3x3 convolution, as
// torchvision's do ("v1.5"), not in the first 1x1 one as in the paper.
struct ResNet {
    int depth = 0;
    std::array<int, 4> blocks{};  // of each stage
    bool hasBottlenecks = false, isForCifar = false;

    std::string name() const { return "resnet" + std::to_string(depth) + (isForCifar ? "-cifar" : ""); }
};

// Where the shape changes the shortcut is a 1x1 convolution (option B).
ValueId shortcut(GraphBuilder& b, ValueId x, int out, int stride) {
    if (stride == 1 && b.typeOf(x).shape[1] == out) return x;
    const auto scope = b.enter("shortcut");
    return batchNormLayer(b, convLayer(b, x, {.out = out, .kernel = 1, .stride = stride, .padding = 0}, "conv"),
                          "norm");
}

ValueId basicBlock(GraphBuilder& b, ValueId x, int width, int stride) {
    ValueId y = convLayer(b, x, {.out = width, .stride = stride}, "conv1");
    y = relu(b, batchNormLayer(b, y, "norm1"), "relu1");
    y = batchNormLayer(b, convLayer(b, y, {.out = width}, "conv2"), "norm2");
    return relu(b, add(b, y, shortcut(b, x, width, stride), "add"), "relu2");
}

ValueId bottleneck(GraphBuilder& b, ValueId x, int width, int stride) {
    ValueId y = convLayer(b, x, {.out = width, .kernel = 1, .padding = 0}, "conv1");
    y = relu(b, batchNormLayer(b, y, "norm1"), "relu1");
    y = convLayer(b, y, {.out = width, .stride = stride}, "conv2");
    y = relu(b, batchNormLayer(b, y, "norm2"), "relu2");
    y = batchNormLayer(b, convLayer(b, y, {.out = 4 * width, .kernel = 1, .padding = 0}, "conv3"), "norm3");
    return relu(b, add(b, y, shortcut(b, x, 4 * width, stride), "add"), "relu3");
}

ValueId stem(GraphBuilder& b, ValueId image, bool isForCifar) {
    if (isForCifar) return convNormRelu(b, image, {.out = 64}, "stem");
    const ValueId x = convNormRelu(b, image, {.out = 64, .kernel = 7, .stride = 2, .padding = 3}, "stem");
    return maxPool2d(b, x, {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}, "stem/pool");
}

ValueId build(GraphBuilder& b, ValueId image, const ModelInput& input, const ResNet& net) {
    expectPixels(input, net.isForCifar ? 8 : 32, net.name());
    ValueId x = stem(b, image, net.isForCifar);
    int number = 0;
    for (std::size_t stage = 0; stage < net.blocks.size(); ++stage) {
        const int width = 64 << stage;
        for (int i = 0; i < net.blocks[stage]; ++i) {
            const int stride = stage > 0 && i == 0 ? 2 : 1;
            const auto scope = b.enter("block" + std::to_string(++number));
            x = net.hasBottlenecks ? bottleneck(b, x, width, stride) : basicBlock(b, x, width, stride);
        }
    }
    return denseLayer(b, globalAveragePool2d(b, x, "pool"), input.classes, "head");
}

ModelEntry entryOf(const ResNet& net) {
    return {.name = net.name(),
            .meaning = "ResNet-" + std::to_string(net.depth) +
                       (net.isForCifar ? " with a 3x3 stem, for images of about 32x32 pixels."
                                       : " with a 7x7 stem and a pooling, for images of about 224x224 pixels."),
            .params = {},
            .build = [net](GraphBuilder& b, ValueId image, ValueId, const ModelInput& input,
                           const ParamValues&) { return build(b, image, input, net); },
            .usual = net.isForCifar ? kCifarImages : kImageNetImages,
            .torchvisionLayers = torchvisionResnetLayers};
}

}  // namespace

std::vector<ModelEntry> resnetModels() {
    std::vector<ModelEntry> models;
    for (const bool isForCifar : {true, false}) {
        models.push_back(entryOf({18, {2, 2, 2, 2}, false, isForCifar}));
        models.push_back(entryOf({34, {3, 4, 6, 3}, false, isForCifar}));
        models.push_back(entryOf({50, {3, 4, 6, 3}, true, isForCifar}));
    }
    return models;
}

}  // namespace lockstep
