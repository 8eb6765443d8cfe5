#pragma once

namespace lockstep::report {

struct RampColor {
    int red = 0, green = 0, blue = 0;  // 0 to 255
};
// From worst, 0, to best, 1: evenly lighter or darker, so that it is read without telling hues apart (Nuñez, Anderton
// and Renslow, "Optimizing colormaps with consideration for color vision deficiency", PLOS ONE 2018: cividis). The best
// stands out most against a light or a dark page. What is no number is the worst.
RampColor rampColor(double share, bool isDark);

}  // namespace lockstep::report
