#pragma once
#include <string_view>

#include "engine/model/registry.h"

namespace lockstep {

// Images that a model cannot take are refused by their field, "height" or "width", with its value and what would fit.
// `model` is the model's id.
void expectPixels(const ModelInput& input, int atLeast, std::string_view model);  // "model.image-too-small"
void expectMultiple(const ModelInput& input, int step, std::string_view model);   // "model.image-not-multiple"

}  // namespace lockstep
