#pragma once
#include <QColor>

#include "ui/style/theme.h"

namespace lockstep::ui {

// From worst, 0, to best, 1: the ramp of reports (engine/report/color_ramp.h), against the theme's surface.
QColor rampColor(double share, const Theme& theme);

}  // namespace lockstep::ui
