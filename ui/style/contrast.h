#pragma once
#include <QColor>

namespace lockstep::ui {

// How well a text can be read.
constexpr double kReadableContrast = 4.5;  // at least: WCAG 2.1, success criterion 1.4.3

// Of two opaque colours, 1 to 21: WCAG 2.1, "contrast ratio".
double contrastRatio(const QColor& a, const QColor& b);
// For a text on that ground: `wanted` where it can be read, else black or white, of which one always can.
QColor readableOn(const QColor& ground, const QColor& wanted);

}  // namespace lockstep::ui
