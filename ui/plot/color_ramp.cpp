#include "ui/plot/color_ramp.h"

#include "engine/report/color_ramp.h"

namespace lockstep::ui {

QColor rampColor(double share, const Theme& theme) {
    const report::RampColor color = report::rampColor(share, theme.dark);
    return {color.red, color.green, color.blue};
}

}  // namespace lockstep::ui
