#include "ui/style/contrast.h"

#include <algorithm>
#include <cmath>

namespace lockstep::ui {

namespace {

double linearChannel(float encoded) {
    const auto value = static_cast<double>(encoded);
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double relativeLuminance(const QColor& color) {
    return 0.2126 * linearChannel(color.redF()) + 0.7152 * linearChannel(color.greenF()) +
           0.0722 * linearChannel(color.blueF());
}

}  // namespace

double contrastRatio(const QColor& a, const QColor& b) {
    const auto [darker, lighter] = std::minmax({relativeLuminance(a), relativeLuminance(b)});
    return (lighter + 0.05) / (darker + 0.05);
}

QColor readableOn(const QColor& ground, const QColor& wanted) {
    if (contrastRatio(ground, wanted) >= kReadableContrast) return wanted;
    const QColor black(Qt::black), white(Qt::white);
    return contrastRatio(ground, black) >= contrastRatio(ground, white) ? black : white;
}

}  // namespace lockstep::ui
