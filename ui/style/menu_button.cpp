#include "ui/style/menu_button.h"

#include <QPushButton>

namespace lockstep::ui {

QPushButton* menuButton(const QString& text, QMenu* menu, const QString& help) {
    auto* button = new QPushButton(text + " ▾");
    button->setStyleSheet("QPushButton::menu-indicator { image: none; width: 0; }");
    button->setAccessibleName(text);
    button->setMenu(menu);
    button->setToolTip(help);
    return button;
}

}  // namespace lockstep::ui
