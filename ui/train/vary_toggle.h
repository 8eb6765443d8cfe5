#pragma once
#include <QToolButton>

#include "ui/train/spec_form.h"

namespace lockstep::ui {

// "⇄" beside a field: on, a sweep tries several values of its setting. Follows the form. GUI thread.
class VaryToggle : public QToolButton {
    Q_OBJECT
public:
    VaryToggle(SpecForm& form, const QString& path, const QString& label, QWidget* parent = nullptr);
};

}  // namespace lockstep::ui
