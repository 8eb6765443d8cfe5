#include "engine/ops/pixels.h"

#include <array>
#include <charconv>

#include "engine/ops/rules.h"

namespace lockstep {

namespace {

constexpr std::string_view kName = "pixels_to_images";

void expectPixels(const TensorType& pixels, std::int64_t samples, std::int64_t channels, bool gathers) {
    const bool fits = pixels.dtype == DType::U8 && pixels.shape.rank() == 4 && pixels.shape[1] == channels &&
                      (gathers || pixels.shape[0] == samples);
    if (fits) return;
    const std::string first = gathers ? "K" : std::to_string(samples);
    refuse("graph.type-mismatch",
           {std::string(kName), "pixels", "u8[" + first + "x" + std::to_string(channels) + "xHxW]", pixels.text()});
}

std::vector<TensorType> inferPixelsToImages(std::span<const TensorType> in, const Attrs& attrs) {
    const auto& own = attrs.as<PixelsAttrs>();
    expectInputs(kName, in, 2, 3);
    const TensorType& recipes = in[0];
    if (recipes.dtype != DType::I32 || recipes.shape.rank() != 2 || recipes.shape[1] % kRecipeNumbers != 0 ||
        recipes.shape[1] == 0)
        refuse("graph.type-mismatch",
               {std::string(kName), "recipes", "i32[Nx" + std::to_string(kRecipeNumbers) + "m]", recipes.text()});
    const std::int64_t samples = recipes.shape[0], each = recipes.shape[1] / kRecipeNumbers;
    const auto channels = static_cast<std::int64_t>(own.mean.size());
    expectAttribute(channels > 0 && own.mean.size() == own.deviation.size(), kName, "mean",
                    std::to_string(own.mean.size()), "as many numbers as deviation has, one for each channel");
    expectPixels(in[1], samples, own.gathers ? channels : each * channels, own.gathers);
    if (in.size() == 3) {
        expectAttribute(each >= 2, kName, "recipes", std::to_string(each),
                        "two for each sample where there is a lambda");
        expectType(kName, "lambda", in[2], {{samples}, own.to});
    }
    return {{{samples, channels, in[1].shape[2], in[1].shape[3]}, own.to}};
}

std::string listText(const std::vector<float>& numbers) {
    std::string out;
    for (const float number : numbers) {
        std::array<char, 32> digits{};
        const auto end = std::to_chars(digits.begin(), digits.end(), number).ptr;
        out += (out.empty() ? "" : ",") + std::string(digits.begin(), end);
    }
    return out;
}

}  // namespace

std::string describe(const PixelsAttrs& attrs) {
    return "mean=" + listText(attrs.mean) + " deviation=" + listText(attrs.deviation) +
           (attrs.gathers ? " from the dataset" : "");
}

std::vector<float> normalisedValues(const PixelsAttrs& attrs) {
    std::vector<float> values;
    for (std::size_t c = 0; c < attrs.mean.size(); ++c) {
        const PixelScale scale(attrs.mean[c], attrs.deviation[c]);
        for (int pixel = 0; pixel < 256; ++pixel) values.push_back(scale(static_cast<std::uint8_t>(pixel)));
    }
    return values;
}

ImageMaker::ImageMaker(const TensorType& recipeType, const TensorType& images, bool fromDataset)
    : channels(images.shape[1]),
      height(static_cast<int>(images.shape[2])),
      width(static_cast<int>(images.shape[3])),
      recipes(static_cast<int>(recipeType.shape[1] / kRecipeNumbers)),
      gathers(fromDataset) {}

constinit const OpDef kPixelsToImages{.name = kName, .infer = inferPixelsToImages};

ValueId pixelsToImages(GraphBuilder& b, std::vector<ValueId> inputs, PixelsAttrs attrs, const std::string& name) {
    return b.append(kPixelsToImages, std::move(inputs), Attrs::of(std::move(attrs)), name)[0];
}

}  // namespace lockstep
