#pragma once
#include <QIcon>
#include <QPainterPath>

namespace lockstep::ui {

// An icon of lines, drawn in a square of 24 units in the colours of the theme as it is now, also as a selected one.
QIcon lineIcon(const QPainterPath& lines);

}  // namespace lockstep::ui
