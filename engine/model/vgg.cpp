#include "engine/model/architectures.h"

#include <array>

#include "engine/model/image_size.h"
#include "engine/model/layers.h"
#include "engine/model/torchvision_names.h"
#include "engine/ops/dropout.h"
#include "engine/ops/elementwise.h"

namespace lockstep {

namespace {

// Simonyan and Zisserman, arXiv 1409.1556, table 1: columns A, D and E.
struct Vgg {
    int depth = 0;
    std::array<int, 5> convolutions{};  // of each stage
    bool hasNorm = false, isForCifar = false;

    std::string name() const {
        return "vgg" + std::to_string(depth) + (hasNorm ? "-bn" : "") + (isForCifar ? "-cifar" : "");
    }
};

constexpr std::array kWidths{64, 128, 256, 512, 512};
constexpr int kStep = 32;  // each stage halves the image

// Before a norm a bias does nothing. That of the large networks is kept, as in the weights that are published for them.
ValueId convolution(GraphBuilder& b, ValueId x, ConvLayer layer, const Vgg& vgg, const std::string& name) {
    const auto scope = b.enter(name);
    layer.bias = !vgg.hasNorm || !vgg.isForCifar;
    ValueId y = convLayer(b, x, layer, "conv");
    if (vgg.hasNorm) y = batchNormLayer(b, y, "norm");
    return relu(b, y, "relu");
}

ValueId hiddenLayers(GraphBuilder& b, ValueId x, ValueId ids, const ParamValues& params) {
    const int width = static_cast<int>(params.integer("width"));
    const double rate = params.number("dropout");
    for (const char* number : {"1", "2"}) {
        x = relu(b, denseLayer(b, x, width, std::string("dense") + number), std::string("relu") + number);
        if (rate > 0) x = dropout(b, x, ids, rate, std::string("dropout") + number);
    }
    return x;
}

ValueId build(GraphBuilder& b, ValueId image, ValueId ids, const ModelInput& input, const ParamValues& params,
              const Vgg& vgg) {
    expectMultiple(input, kStep, vgg.name());
    const bool passesOn = params.flag("identity_start");
    ValueId x = image;
    for (std::size_t stage = 0; stage < kWidths.size(); ++stage) {
        const auto scope = b.enter("stage" + std::to_string(stage + 1));
        for (int i = 1; i <= vgg.convolutions[stage]; ++i) {
            const bool isFirst = stage == 0 && i == 1;  // colours are not yet features
            const auto start = passesOn && !isFirst ? Initializer::Kind::Identity : Initializer::Kind::HeNormal;
            const ConvLayer layer{.out = kWidths[stage], .start = start};
            x = convolution(b, x, layer, vgg, "block" + std::to_string(i));
        }
        x = maxPool2d(b, x, {}, "pool");
    }
    x = flatten(b, x, "flatten");
    if (!vgg.isForCifar) x = hiddenLayers(b, x, ids, params);
    return denseLayer(b, x, input.classes, "head");
}

ModelEntry entryOf(const Vgg& vgg) {
    ModelEntry entry;
    entry.name = vgg.name();
    entry.meaning = "VGG-" + std::to_string(vgg.depth) + (vgg.hasNorm ? " with batch norm and" : " with") +
                    (vgg.isForCifar ? " one dense layer, for images of 32x32 pixels."
                                    : " three dense layers, for images of 224x224 pixels.");
    entry.params = {{"identity_start",
                     false,
                     {},
                     {},
                     {},
                     "",
                     "Convolutions start by handing on what they get: without shortcuts, deep networks learn sooner."}};
    if (!vgg.isForCifar) {
        entry.params.push_back({"width",
                                std::int64_t{4096},
                                1,
                                65536,
                                {},
                                "neurons",
                                "How many neurons each of the two hidden dense layers has."});
        entry.params.push_back(
            {"dropout", 0.5, 0, 0.95, {}, "", "The share of neurons left out at random while training."});
    }
    entry.build = [vgg](GraphBuilder& b, ValueId image, ValueId ids, const ModelInput& input,
                        const ParamValues& params) { return build(b, image, ids, input, params, vgg); };
    entry.usual = vgg.isForCifar ? kCifarImages : kImageNetImages;
    entry.torchvisionLayers = torchvisionVggLayers;
    return entry;
}

}  // namespace

std::vector<ModelEntry> vggModels() {
    std::vector<ModelEntry> models;
    for (const bool isForCifar : {true, false}) {
        for (const bool hasNorm : {true, false}) {
            models.push_back(entryOf({11, {1, 1, 2, 2, 2}, hasNorm, isForCifar}));
            models.push_back(entryOf({16, {2, 2, 3, 3, 3}, hasNorm, isForCifar}));
            models.push_back(entryOf({19, {2, 2, 4, 4, 4}, hasNorm, isForCifar}));
        }
    }
    return models;
}

}  // namespace lockstep
