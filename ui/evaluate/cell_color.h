#pragma once
#include <QColor>

#include "ui/style/theme.h"

namespace lockstep::ui {

// The ground of a confusion matrix's cell: right answers in one colour, mistakes in another, the stronger the larger
// their share of the row, 0 to 1. Opaque.
QColor cellColor(bool isRight, double share, const Theme& theme);

}  // namespace lockstep::ui
