#pragma once
#include <QString>
#include <QWidget>

#include "ui/train/form_catalog.h"

class QToolButton;

namespace lockstep::ui {

// The number next to this one, upwards (1) or downwards (-1), within the field's range: of whole numbers the next, of
// shares the next twentieth, of others the next of 1, 2, 5, 10, 20…, from 0 upwards 0.0001. Empty: there is none, or
// the text is no such number.
QString steppedNumber(const FormField& field, const QString& number, int by);

// Two small arrows beside a number, for the mouse: the keyboard has its own in the number's line.
class NumberSteps : public QWidget {
    Q_OBJECT
public:
    explicit NumberSteps(const FormField& field, QWidget* parent = nullptr);

signals:
    void stepped(int by);

private:
    QToolButton* addArrow(Qt::ArrowType arrow, int by, const QString& name, const QString& words);
};

}  // namespace lockstep::ui
