#pragma once
#include <QColor>

#include "ui/style/theme.h"

namespace lockstep::ui {

// From worst, 0, to best, 1: evenly lighter or darker, so that it is read without telling hues apart (Nuñez, Anderton
// and Renslow, "Optimizing colormaps with consideration for color vision deficiency", PLOS ONE 2018: cividis). The best
// stands out most against the theme's surface.
QColor rampColor(double share, const Theme& theme);

}  // namespace lockstep::ui
