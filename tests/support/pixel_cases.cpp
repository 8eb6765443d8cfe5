#include "engine/ops/pixels.h"

#include <array>
#include <cstring>

#include "tests/support/case_inputs.h"

namespace lockstep::test {

namespace {

CaseInput recipesOf(std::int64_t samples, const std::vector<ImageRecipe>& recipes) {
    const auto each = static_cast<std::int64_t>(recipes.size()) / samples;
    std::vector<int> numbers(recipes.size() * kRecipeNumbers);
    std::memcpy(numbers.data(), recipes.data(), recipes.size() * sizeof(ImageRecipe));
    return CaseInputs::labelsGiven({samples, each * kRecipeNumbers}, numbers);
}

// Crops beyond every edge, mirrored and not, holes in the middle, at a corner and beyond it.
// Of each two that are mixed one is pasted on the other, or none. Colours are jittered in two orders, or not.
std::vector<ImageRecipe> variedRecipes(std::size_t count, std::int32_t sources) {
    std::vector<ImageRecipe> recipes;
    for (int i = 0; recipes.size() < count; ++i) {
        ImageRecipe recipe{.source = (i * 5 + 1) % sources, .dy = i % 5 - 2, .dx = i % 7 - 3, .mirrored = i % 2};
        if (i % 3 == 1) recipe.hole = {1, 0, 3, 2};
        if (i % 3 == 2) recipe.erased = {0, 2, 100, 100};
        if (i % 6 == 2 || i % 6 == 5) recipe.pasted = {1, 1, 4, 6};
        if (i % 4 == 1) recipe.jitter = {0x4321, 80000, 50000, 12000, 90000, 70000};
        if (i % 4 == 3) recipe.jitter = {0x2134, 50000, 90000, -30000, 20000, -150000};
        recipes.push_back(recipe);
    }
    return recipes;
}

std::function<Attrs(DType)> attrsOf(std::int64_t channels, bool gathers) {
    PixelsAttrs attrs{.gathers = gathers};
    constexpr std::array mean{0.49f, 0.48f, 0.45f, 0.5f}, deviation{0.25f, 0.24f, 0.26f, 0.3f};
    attrs.mean.assign(mean.begin(), mean.begin() + channels);
    attrs.deviation.assign(deviation.begin(), deviation.begin() + channels);
    return [attrs](DType compute) mutable {
        attrs.to = compute;
        return Attrs::of(attrs);
    };
}

}  // namespace

void addPixelCases(std::vector<OpCase>& cases) {
    struct Size {
        std::string name;
        std::int64_t samples, channels, height, width;
    };
    const std::vector<Size> sizes{
        {"one", 1, 1, 1, 1}, {"grey", 5, 1, 6, 9}, {"colour", 7, 3, 8, 8}, {"deep", 4, 4, 5, 3}};
    for (const Size& size : sizes) {
        for (const bool gathers : {false, true}) {
            for (const bool mixes : {false, true}) {
                const std::string name = size.name + (gathers ? " kept" : " in the batch") + (mixes ? " mixed" : "");
                CaseInputs in("pixels " + name);
                const std::int64_t recipes = mixes ? 2 : 1, kept = 11;
                const auto count = static_cast<std::size_t>(size.samples * recipes);
                const Shape pixels = gathers ? Shape{kept, size.channels, size.height, size.width}
                                             : Shape{size.samples, recipes * size.channels, size.height, size.width};
                OpCase made{.name = "pixels_to_images/" + name,
                            .op = &kPixelsToImages,
                            .attrs = attrsOf(size.channels, gathers),
                            .tolerance = 1e-6};
                made.inputs = {recipesOf(size.samples, variedRecipes(count, static_cast<std::int32_t>(kept))),
                               in.bytes(pixels)};
                if (mixes) made.inputs.push_back(in.positive({size.samples}));
                cases.push_back(std::move(made));
            }
        }
    }
}

}  // namespace lockstep::test
