#pragma once
#include <QString>

class QMenu;
class QPushButton;

namespace lockstep::ui {

// A button that opens a menu, which the mark behind its text says; screen readers hear the text alone.
QPushButton* menuButton(const QString& text, QMenu* menu, const QString& help);

}  // namespace lockstep::ui
