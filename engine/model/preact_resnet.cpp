#include "engine/model/architectures.h"
#include "engine/model/image_size.h"
#include "engine/model/layers.h"
#include "engine/ops/elementwise.h"

namespace lockstep {

namespace {

constexpr int kBlocks = 18;  // of each stage: 3 stages of 18 blocks of 3 layers, and two more

// He et al., arXiv 1603.05027, figure 4e and table 2. The first block of a stage starts both of its branches after the
// norm: its shortcut is a 1x1 convolution there.
ValueId block(GraphBuilder& b, ValueId x, int width, int stride, Initializer::Kind last, const std::string& name) {
    const auto scope = b.enter(name);
    ValueId y = relu(b, batchNormLayer(b, x, "norm1"), "relu1"), shortcut = x;
    if (stride != 1 || b.typeOf(x).shape[1] != 4 * width) {
        shortcut = convLayer(b, y, {.out = 4 * width, .kernel = 1, .stride = stride, .padding = 0}, "shortcut/conv");
    }
    y = convLayer(b, y, {.out = width, .kernel = 1, .padding = 0}, "conv1");
    y = relu(b, batchNormLayer(b, y, "norm2"), "relu2");
    y = convLayer(b, y, {.out = width, .stride = stride}, "conv2");
    y = relu(b, batchNormLayer(b, y, "norm3"), "relu3");
    y = convLayer(b, y, {.out = 4 * width, .kernel = 1, .padding = 0, .start = last}, "conv3");
    return add(b, y, shortcut, "add");
}

ValueId buildPreactResNet(GraphBuilder& b, ValueId image, ValueId, const ModelInput& input, const ParamValues& params) {
    expectPixels(input, 4, "resnet164");
    const Initializer::Kind last = lastOfBranch(params);
    ValueId x = convLayer(b, image, {.out = 16}, "stem/conv");
    for (int i = 0; i < 3 * kBlocks; ++i) {
        const int stage = i / kBlocks, stride = stage > 0 && i % kBlocks == 0 ? 2 : 1;
        x = block(b, x, 16 << stage, stride, last, "block" + std::to_string(i + 1));
    }
    x = relu(b, batchNormLayer(b, x, "last/norm"), "last/relu");
    return denseLayer(b, globalAveragePool2d(b, x, "pool"), input.classes, "head");
}

}  // namespace

ModelEntry resnet164Model() {
    return {.name = "resnet164",
            .meaning =
                "ResNet-164 with norms before convolutions and narrow bottlenecks, for images of about 32x32 "
                "pixels.",
            .params = {zeroInitResidual()},
            .build = buildPreactResNet,
            .usual = kCifarImages};
}

}  // namespace lockstep
