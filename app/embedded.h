#pragma once
#include <span>
#include <string_view>

namespace lockstep {

// The files of resources/messages, resources/presets and resources/pytorch, put into the program when it is built.
// "presets/fashion.json".
struct EmbeddedText {
    std::string_view name, text;
};
std::span<const EmbeddedText> embeddedTexts();

}  // namespace lockstep
