#include "ui/style/action_bar.h"

#include <QCoreApplication>
#include <QEvent>
#include <QToolBar>
#include <QToolButton>

#include "ui/style/line_icon.h"

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

// The button for the buttons that do not fit, as well to be seen as they are, also in another theme.
class RestDresser : public QObject {
public:
    explicit RestDresser(QToolButton* button) : QObject(button), m_button(*button) {
        button->installEventFilter(this);
        dress();
    }
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::PaletteChange) dress();
        return QObject::eventFilter(watched, event);
    }

private:
    void dress() {
        QPainterPath chevrons;
        for (const int left : {5, 13}) {
            chevrons.moveTo(left, 5);
            chevrons.lineTo(left + 6, 12);
            chevrons.lineTo(left, 19);
        }
        m_button.setIcon(lineIcon(chevrons));
    }

    QToolButton& m_button;
};

}  // namespace

void dressActionBar(QToolBar& bar) {
    bar.setStyleSheet(kBarStyle);
    for (auto* button : bar.findChildren<QToolButton*>()) button->setFocusPolicy(Qt::TabFocus);
    auto* rest = bar.findChild<QToolButton*>("qt_toolbar_ext_button");
    if (!rest) return;
    rest->setAccessibleName(ActionBar::tr("Buttons that do not fit"));
    rest->setToolTip(rest->accessibleName());
    new RestDresser(rest);  // which is its child
}

}  // namespace lockstep::ui
