#include "engine/model/image_size.h"

#include <algorithm>
#include <array>

namespace lockstep {

namespace {

struct Extent {
    const char* field;
    int pixels;
};

std::array<Extent, 2> extentsOf(const ModelInput& input) {
    return {{{"height", input.height}, {"width", input.width}}};
}

int nearestMultiple(int pixels, int step) { return std::max(1, (pixels + step / 2) / step) * step; }

}  // namespace

void expectPixels(const ModelInput& input, int atLeast, std::string_view model) {
    for (const auto& [field, pixels] : extentsOf(input)) {
        if (pixels >= atLeast) continue;
        throw ProblemError(
            {field, "model.image-too-small", {std::to_string(pixels), std::string(model), std::to_string(atLeast)}});
    }
}

void expectMultiple(const ModelInput& input, int step, std::string_view model) {
    for (const auto& [field, pixels] : extentsOf(input)) {
        if (pixels % step == 0) continue;
        throw ProblemError({field,
                            "model.image-not-multiple",
                            {std::to_string(pixels), std::string(model), std::to_string(step),
                             std::to_string(nearestMultiple(pixels, step))}});
    }
}

}  // namespace lockstep
