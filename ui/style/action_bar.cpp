#include "ui/style/action_bar.h"

#include <QCoreApplication>
#include <QToolBar>
#include <QToolButton>

namespace lockstep::ui {

namespace {

struct ActionBar {
    Q_DECLARE_TR_FUNCTIONS(ActionBar)
};

// The palette's roles follow the theme.
constexpr const char* kBarStyle = R"(
    QToolBar { border: none; spacing: 4px; padding: 2px 0px; }
    QToolBar::separator { width: 1px; margin: 4px 7px; background: palette(mid); }
    QToolButton { border: 1px solid palette(mid); border-radius: 6px; padding: 4px 10px; background: palette(base); }
    QToolButton:hover { background: palette(light); }
    QToolButton:pressed, QToolButton:checked { background: palette(mid); }
    QToolButton:focus { border: 2px solid palette(highlight); padding: 3px 9px; }
    QToolButton:disabled { background: transparent; }
    QToolButton::menu-indicator { image: none; }
    QToolButton#qt_toolbar_ext_button { border: none; padding: 0px; }
)";

}  // namespace

void dressActionBar(QToolBar& bar) {
    bar.setStyleSheet(kBarStyle);
    for (auto* button : bar.findChildren<QToolButton*>()) button->setFocusPolicy(Qt::TabFocus);
    auto* rest = bar.findChild<QToolButton*>("qt_toolbar_ext_button");
    if (!rest) return;
    rest->setAccessibleName(ActionBar::tr("Buttons that do not fit"));
    rest->setToolTip(rest->accessibleName());
}

}  // namespace lockstep::ui
