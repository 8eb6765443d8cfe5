#include "ui/style/calm_wheel.h"

#include <QAbstractSpinBox>
#include <QComboBox>
#include <QEvent>
#include <QSlider>
#include <QWidget>

namespace lockstep::ui {

namespace {

// Ignored by the one under the pointer, a turn of the wheel goes to what holds it.
class CalmWheel : public QObject {
public:
    using QObject::QObject;
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() != QEvent::Wheel || static_cast<QWidget*>(watched)->hasFocus()) return false;
        event->ignore();
        return true;
    }
};

bool takesTheWheel(const QWidget& widget) {
    return qobject_cast<const QComboBox*>(&widget) || qobject_cast<const QAbstractSpinBox*>(&widget) ||
           qobject_cast<const QSlider*>(&widget) || widget.inherits("QCustomPlot");
}

}  // namespace

void calmWheel(QWidget& root) {
    auto* calm = new CalmWheel(&root);
    for (QWidget* each : root.findChildren<QWidget*>()) {
        if (!takesTheWheel(*each)) continue;
        if (each->focusPolicy() == Qt::WheelFocus) each->setFocusPolicy(Qt::StrongFocus);
        each->setAttribute(Qt::WA_NoMousePropagation, false);  // a plot keeps even what it has ignored
        each->installEventFilter(calm);
    }
}

}  // namespace lockstep::ui
