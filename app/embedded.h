#pragma once
#include <span>
#include <string_view>

namespace lockstep {

// The files of resources/messages and resources/presets, put into the program when it is built.
struct EmbeddedText { std::string_view name, text; };          // "presets/fashion.json"
std::span<const EmbeddedText> embeddedTexts();

}  // namespace lockstep
