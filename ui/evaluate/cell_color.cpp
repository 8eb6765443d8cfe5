#include "ui/evaluate/cell_color.h"

#include <algorithm>
#include <cmath>

namespace lockstep::ui {

// Of the root of the share: a few mistakes are to be seen beside many right answers.
QColor cellColor(bool isRight, double share, const Theme& theme) {
    if (share <= 0) return theme.surface;
    const QColor full = isRight ? theme.good : theme.bad;
    const auto weight = static_cast<float>(std::min(0.85, 0.10 + 0.75 * std::sqrt(share)));
    const auto between = [weight](float from, float to) { return from + weight * (to - from); };
    return QColor::fromRgbF(between(theme.surface.redF(), full.redF()), between(theme.surface.greenF(), full.greenF()),
                            between(theme.surface.blueF(), full.blueF()));
}

}  // namespace lockstep::ui
