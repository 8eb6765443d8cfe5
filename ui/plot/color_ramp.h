#pragma once
#include <QColor>
#include <QPainter>

#include "ui/style/theme.h"

namespace lockstep::ui {

// From worst, 0, to best, 1: the ramp of reports (engine/report/color_ramp.h), against the theme's surface.
QColor rampColor(double share, const Theme& theme);
// What its colours mean, in the theme as it is now, at the right of `line`: the name, and the values of worst and best.
void paintRamp(QPainter& painter, const QRectF& line, const QString& name, const QString& worst, const QString& best);

}  // namespace lockstep::ui
