#include "ui/train/quiet_button.h"

namespace lockstep::ui {

QuietButton::QuietButton(const QString& name, const QString& text, const QString& help, const QString& spoken,
                         QWidget* parent)
    : QToolButton(parent) {
    setObjectName(name);
    setText(text);
    setProperty("quiet", true);  // what it looks like
    setFocusPolicy(Qt::StrongFocus);
    setToolTip(help);
    setAccessibleName(spoken.isEmpty() ? text : spoken);
    setAccessibleDescription(help);
}

// Without the two blanks about the text, which then begins where others do.
QSize QuietButton::sizeHint() const {
    return QToolButton::sizeHint() - QSize(2 * fontMetrics().horizontalAdvance(' '), 0);
}

}  // namespace lockstep::ui
