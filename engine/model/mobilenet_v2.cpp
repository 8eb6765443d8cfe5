#include "engine/model/architectures.h"

#include <algorithm>

#include "engine/model/image_size.h"
#include "engine/model/layers.h"
#include "engine/ops/dropout.h"
#include "engine/ops/elementwise.h"

namespace lockstep {

namespace {

// Sandler et al., arXiv 1801.04381, table 2.
struct Stage {
    int expansion, channels, blocks, stride;
};
constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                             {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

// The nearest multiple of 8 that is not more than a tenth below, as the authors' code and torchvision's have it.
int scaled(int channels, double width) {
    const double wanted = channels * width;
    const int nearest = std::max(8, static_cast<int>(wanted + 4) / 8 * 8);
    return nearest < 0.9 * wanted ? nearest + 8 : nearest;
}

ValueId convNormRelu6(GraphBuilder& b, ValueId x, const ConvLayer& layer, const std::string& name) {
    const auto scope = b.enter(name);
    return relu6(b, batchNormLayer(b, convLayer(b, x, layer, "conv"), "norm"), "relu6");
}

ValueId invertedResidual(GraphBuilder& b, ValueId x, int expansion, int out, int stride, const std::string& name) {
    const auto scope = b.enter(name);
    const int in = static_cast<int>(b.typeOf(x).shape[1]), wide = in * expansion;
    ValueId y = x;
    if (expansion != 1) y = convNormRelu6(b, y, {.out = wide, .kernel = 1, .padding = 0}, "expand");
    y = convNormRelu6(b, y, {.out = wide, .stride = stride, .groups = wide}, "depthwise");
    y = batchNormLayer(b, convLayer(b, y, {.out = out, .kernel = 1, .padding = 0}, "project/conv"), "project/norm");
    return stride == 1 && in == out ? add(b, y, x, "add") : y;
}

ValueId buildMobileNetV2(GraphBuilder& b, ValueId image, ValueId ids, const ModelInput& input,
                         const ParamValues& params) {
    expectPixels(input, 32, "mobilenet-v2");
    const double width = params.number("width"), rate = params.number("dropout");
    ValueId x = convNormRelu6(b, image, {.out = scaled(32, width), .stride = 2}, "stem");
    int number = 0;
    for (const auto& [expansion, channels, blocks, stride] : kStages) {
        for (int i = 0; i < blocks; ++i) {
            x = invertedResidual(b, x, expansion, scaled(channels, width), i == 0 ? stride : 1,
                                 "block" + std::to_string(++number));
        }
    }
    const int last = scaled(1280, std::max(1.0, width));
    x = globalAveragePool2d(b, convNormRelu6(b, x, {.out = last, .kernel = 1, .padding = 0}, "last"), "pool");
    if (rate > 0) x = dropout(b, x, ids, rate, "dropout");
    return denseLayer(b, x, input.classes, "head");
}

}  // namespace

ModelEntry mobilenetV2Model() {
    return {.name = "mobilenet-v2",
            .meaning = "MobileNetV2: depthwise convolutions between narrow layers, for images of about 224x224 pixels.",
            .params = {{"width", 1.0, 0.1, 4, {}, "", "All layers have this many times the usual channels."},
                       {"dropout",
                        0.2,
                        0,
                        0.95,
                        {},
                        "",
                        "The share of features left out at random before the last layer while training."}},
            .build = buildMobileNetV2,
            .usual = kImageNetImages};
}

}  // namespace lockstep
