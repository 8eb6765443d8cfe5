#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/data/image_recipe.h"
#include "engine/graph/graph_builder.h"

namespace lockstep {

// The images of a batch from their pixels, as recipes say, on devices whose memory is not the host's: what travels to
// them is a quarter of the images, or next to nothing where they keep the dataset. Each sample has m recipes: its own
// and, where the run mixes samples, that of its partner, which is mixed in if there is a lambda (mixture.h).
//   recipes: N,Rm, i32, R being kRecipeNumbers; lambda: N; images: N,C,H,W; pixels, u8: K,C,H,W of all images kept,
//   among which a recipe names its source; or N,mC,H,W, those of each sample's recipes
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
        if (pixel == kBlackPixel) return values[c * 256];
        const std::int64_t first = (gathers ? recipe.source : place) * channels;
        return values[c * 256 + level(recipe.jitter, pixels + first * height * width, c, pixel)];
    }
    // Of a pixel of the source in its new colours.
    constexpr int level(const ColourJitter& jitter, const std::uint8_t* source, std::int64_t c, int pixel) const {
        const std::int64_t plane = static_cast<std::int64_t>(height) * width;
        const int own = source[c * plane + pixel];
        if (jitter.steps == 0) return own;
        if (channels != 3) return jittered(jitter, {own, own, own}).red;
        const Colour made = jittered(jitter, {source[pixel], source[plane + pixel], source[2 * plane + pixel]});
        return c == 0 ? made.red : c == 1 ? made.green : made.blue;
    }
    // Pixel (y, x) of channel c; T is what is computed in. Without lambda the sample itself.
    template <class T, class Lambda>
    constexpr T made(const ImageRecipe* all, const std::uint8_t* pixels, const Lambda* lambda, std::int64_t sample,
                     std::int64_t c, int y, int x) const {
        const int shown = lambda ? imageAt(all + sample * recipes, y, x) : 0;
        const T own = at(all, pixels, sample, shown == 1 ? 1 : 0, c, y, x);
        if (shown != kBothImages) return own;
        const T share = static_cast<T>(lambda[sample]);
        return share * own + (1 - share) * static_cast<T>(at(all, pixels, sample, 1, c, y, x));
    }
};

ValueId pixelsToImages(GraphBuilder& b, std::vector<ValueId> inputs, PixelsAttrs attrs, const std::string& name);

}  // namespace lockstep
