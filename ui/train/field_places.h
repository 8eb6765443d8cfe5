#pragma once
#include <QVector>

#include "ui/train/spec_form.h"

namespace lockstep::ui {

// Where the train page shows a trial's own settings, as the form is now: those that mean nothing there are left out,
// unless they are set, varied or wrong all the same. Devices, batch and accumulation are the equation's.
struct FieldPlaces {
    explicit FieldPlaces(const SpecForm& form);
    QVector<FormField> data, model, head, text, devices, rate, run, faults, more;
};

}  // namespace lockstep::ui
