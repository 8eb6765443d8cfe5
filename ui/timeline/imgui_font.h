#pragma once
#include <QFont>

struct ImFontAtlas;

namespace lockstep::ui {

// Fills the atlas with one font whose glyphs Qt has drawn, so that ImGui's texts look like all others. `scale`: device
// pixels per pixel; draw it with FontGlobalScale 1 / scale. Latin, Greek and the signs of units and punctuation.
void buildImguiFont(ImFontAtlas& atlas, const QFont& font, double scale);

}  // namespace lockstep::ui
