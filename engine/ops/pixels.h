#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/data/image_recipe.h"
#include "engine/graph/graph_builder.h"

namespace lockstep {

// The images of a batch from their pixels, as recipes say, on devices whose memory is not the host's: what travels to
// them is a quarter of the images, or next to nothing where they keep the dataset. Each sample has m recipes: its own
// and, where the run mixes samples, that of its partner, which lambda, if given, mixes in (augment.h).
//   recipes: N,12m, i32; lambda: N; images: N,C,H,W; pixels, u8: K,C,H,W of all images kept, among which a recipe names
//   its source; or N,mC,H,W, those of each sample's recipes
extern const OpDef kPixelsToImages;  // (recipes, pixels[, lambda]) -> images               PixelsAttrs

struct PixelsAttrs {
    std::vector<float> mean{}, deviation{};  // by channel, of pixels scaled to 0…1
    bool gathers = false;                    // the pixels are all images kept
    DType to = DType::F32;                   // of the images
    bool operator==(const PixelsAttrs&) const = default;
};
std::string describe(const PixelsAttrs& attrs);

// What every value of a pixel becomes: 256 for each channel, in f32 as the host computes them.
std::vector<float> normalisedValues(const PixelsAttrs& attrs);

// The definition all backends follow, for one image. `values` are normalisedValues; plain numbers and pointers, so that
// it runs on a card.
struct ImageMaker {
    const float* values = nullptr;
    std::int64_t channels = 0;
    int height = 0, width = 0, recipes = 1;  // recipes: of a sample
    bool gathers = false;

    ImageMaker(const TensorType& recipes, const TensorType& images, bool gathers);

    // Of the recipe that has this number among its sample's.
    constexpr float at(const ImageRecipe* all, const std::uint8_t* pixels, std::int64_t sample, int number,
                       std::int64_t c, int y, int x) const {
        const std::int64_t place = sample * recipes + number;
        const ImageRecipe& recipe = all[place];
        const int pixel = pixelAt(recipe, height, width, y, x);
        if (pixel == kBlankPixel) return 0;
        const std::int64_t plane = (gathers ? recipe.source : place) * channels + c;
        return values[c * 256 + (pixel == kBlackPixel ? 0 : pixels[plane * height * width + pixel])];
    }
    // Pixel (y, x) of channel c; T is what is computed in. Without lambda the sample itself.
    template <class T, class Lambda>
    constexpr T made(const ImageRecipe* all, const std::uint8_t* pixels, const Lambda* lambda, std::int64_t sample,
                     std::int64_t c, int y, int x) const {
        const T own = at(all, pixels, sample, 0, c, y, x);
        if (!lambda) return own;
        const T share = static_cast<T>(lambda[sample]);
        return share * own + (1 - share) * static_cast<T>(at(all, pixels, sample, 1, c, y, x));
    }
};

ValueId pixelsToImages(GraphBuilder& b, std::vector<ValueId> inputs, PixelsAttrs attrs, const std::string& name);

}  // namespace lockstep
