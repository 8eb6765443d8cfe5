#include "engine/model/architectures.h"
#include "engine/model/image_size.h"
#include "engine/model/layers.h"
#include "engine/ops/dropout.h"
#include "engine/ops/elementwise.h"

namespace lockstep {

namespace {

struct Branch {
    double dropout = 0;
    Initializer::Kind last = Initializer::Kind::HeNormal;
};

// Zagoruyko and Komodakis, arXiv 1605.07146, table 1 and figure 1d. Where the shape changes, the shortcut is a 1x1
// convolution of what the first norm makes.
ValueId block(GraphBuilder& b, ValueId x, ValueId ids, int width, int stride, const Branch& branch,
              const std::string& name) {
    const auto scope = b.enter(name);
    ValueId y = relu(b, batchNormLayer(b, x, "norm1"), "relu1"), shortcut = x;
    if (stride != 1 || b.typeOf(x).shape[1] != width) {
        shortcut = convLayer(b, y, {.out = width, .kernel = 1, .stride = stride, .padding = 0}, "shortcut/conv");
    }
    y = convLayer(b, y, {.out = width, .stride = stride}, "conv1");
    y = relu(b, batchNormLayer(b, y, "norm2"), "relu2");
    if (branch.dropout > 0) y = dropout(b, y, ids, branch.dropout, "dropout");
    return add(b, convLayer(b, y, {.out = width, .start = branch.last}, "conv2"), shortcut, "add");
}

ValueId buildWideResNet(GraphBuilder& b, ValueId image, ValueId ids, const ModelInput& input,
                        const ParamValues& params) {
    expectPixels(input, 4, "wideresnet-16");
    const int k = static_cast<int>(params.integer("k"));
    const Branch branch{params.number("dropout"), lastOfBranch(params)};
    ValueId x = convLayer(b, image, {.out = 16}, "stem/conv");
    for (int i = 0; i < 6; ++i) {
        const int stage = i / 2, stride = stage > 0 && i % 2 == 0 ? 2 : 1;
        x = block(b, x, ids, k * (16 << stage), stride, branch, "block" + std::to_string(i + 1));
    }
    x = relu(b, batchNormLayer(b, x, "last/norm"), "last/relu");
    return denseLayer(b, globalAveragePool2d(b, x, "pool"), input.classes, "head");
}

}  // namespace

ModelEntry wideResnet16Model() {
    return {.name = "wideresnet-16",
            .meaning = "WideResNet-16-k: few and wide residual layers, for images of about 32x32 pixels.",
            .params = {{"k",
                        std::int64_t{4},
                        1,
                        32,
                        {},
                        "",
                        "How many times wider the layers are than a ResNet's 16, 32 and "
                        "64 channels."},
                       {"dropout",
                        0.0,
                        0,
                        0.95,
                        {},
                        "",
                        "The share of features left out at random between the convolutions of a block while training."},
                       zeroInitResidual()},
            .build = buildWideResNet,
            .usual = kCifarImages};
}

}  // namespace lockstep
