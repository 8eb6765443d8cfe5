#pragma once
#include <cstdint>

#include "engine/data/colour_jitter.h"

namespace lockstep {

// How an image of a batch is made of pixels: chosen for each image on the host (augment.h), and followed there, or by a
// device that has the pixels (ops/pixels.h). Nothing but i32 numbers, as it lies in a batch.
struct ImageRecipe {
    struct Box {
        std::int32_t top = 0, left = 0, bottom = 0, right = 0;
        constexpr bool holds(std::int32_t y, std::int32_t x) const {
            return y >= top && y < bottom && x >= left && x < right;
        }
        constexpr bool isEmpty() const { return bottom <= top || right <= left; }
        constexpr std::int32_t pixels() const { return isEmpty() ? 0 : (bottom - top) * (right - left); }
    };
    std::int32_t source = 0;      // the image's number among those that a device keeps
    std::int32_t dy = 0, dx = 0;  // pixel (y, x) before mirroring is pixel (y + dy, x + dx) of the source
    std::int32_t mirrored = 0;    // 0 or 1
    Box hole{}, erased{};         // zero after normalisation; may be empty
    Box pasted{};                 // of one of two that are mixed: what of it lies on the other (CutMix, mixture.h)
    ColourJitter jitter{};        // of the source's pixels, before all else
};
inline constexpr int kRecipeNumbers = sizeof(ImageRecipe) / sizeof(std::int32_t);

inline constexpr int kBlackPixel =
    -1;  // beside the source: pixel value 0 in whatever colours, normalised like all others
inline constexpr int kBlankPixel = -2;  // zero after normalisation

// Which pixel of a plane of height x width stands at (y, x) of the image: its number, or one of the two above.
constexpr int pixelAt(const ImageRecipe& recipe, int height, int width, int y, int x) {
    if (recipe.hole.holds(y, x) || recipe.erased.holds(y, x)) return kBlankPixel;
    const int row = y + recipe.dy, column = (recipe.mirrored != 0 ? width - 1 - x : x) + recipe.dx;
    return row >= 0 && row < height && column >= 0 && column < width ? row * width + column : kBlackPixel;
}

// Which of two that are mixed shows at (y, x), 0 or 1; or that lambda mixes both.
inline constexpr int kBothImages = -1;
constexpr int imageAt(const ImageRecipe* two, int y, int x) {
    if (!two[0].pasted.isEmpty()) return two[0].pasted.holds(y, x) ? 0 : 1;
    if (!two[1].pasted.isEmpty()) return two[1].pasted.holds(y, x) ? 1 : 0;
    return kBothImages;
}

// (pixel / 255 - mean) / deviation as one multiplication and one addition.
struct PixelScale {
    float factor, offset;
    PixelScale(float mean, float deviation) : factor(1.0f / (255.0f * deviation)), offset(-mean / deviation) {}
    float operator()(std::uint8_t pixel) const { return static_cast<float>(pixel) * factor + offset; }
};

}  // namespace lockstep
