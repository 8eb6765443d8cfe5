#include "engine/model/architectures.h"
#include "engine/model/image_size.h"
#include "engine/model/layers.h"
#include "engine/ops/rules.h"
#include "engine/ops/tokens.h"

namespace lockstep {

namespace {

// Dosovitskiy et al., arXiv 2010.11929, for small images, with the mean of the tokens instead of a class token (as in
// arXiv 2205.01580).
ValueId buildVit(GraphBuilder& b, ValueId image, ValueId, const ModelInput& input, const ParamValues& params) {
    const int patch = static_cast<int>(params.integer("patch")), width = static_cast<int>(params.integer("width"));
    const int heads = static_cast<int>(params.integer("heads"));
    expectMultiple(input, patch, "vit");
    expectAttribute(width % heads == 0, "vit", "heads", std::to_string(heads),
                    "a divisor of the width, " + std::to_string(width));
    ValueId x =
        convLayer(b, image, {.out = width, .kernel = patch, .stride = patch, .padding = 0, .bias = true}, "patches");
    x = positionLayer(b, pixelsToTokens(b, x, "tokens"), "position");
    for (int layer = 1; layer <= params.integer("layers"); ++layer)
        x = transformerBlock(b, x, {.heads = heads}, "block" + std::to_string(layer));
    return denseLayer(b, tokenMean(b, layerNormLayer(b, x, "norm"), "mean"), input.classes, "head");
}

}  // namespace

ModelEntry vitModel() {
    return {.name = "vit",
            .meaning = "Vision transformer for small images: patches as tokens, attention between all of them.",
            .params = {{"layers", std::int64_t{6}, 1, 64, {}, "layers", "How many transformer blocks there are."},
                       {"width", std::int64_t{256}, 1, 8192, {}, "features", "How many numbers describe each patch."},
                       {"heads", std::int64_t{4}, 1, 128, {}, "heads", "Into how many heads attention is divided."},
                       {"patch", std::int64_t{4}, 1, 64, {}, "pixels", "The side of a patch."}},
            .build = buildVit,
            .usual = kCifarImages};
}

}  // namespace lockstep
