#include "ui/train/vary_toggle.h"

#include "ui/train/sweep_form.h"

namespace lockstep::ui {

VaryToggle::VaryToggle(SpecForm& form, const QString& path, const QString& label, QWidget* parent)
    : QToolButton(parent) {
    setObjectName(path + ".vary");
    setProperty("quiet", true);  // what it looks like
    setText("⇄");
    setCheckable(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Vary: %1").arg(label));
    setToolTip(tr("Vary: a sweep tries several values of this setting."));
    setAccessibleDescription(toolTip());
    setChecked(form.sweep().isVaried(path));
    connect(this, &QToolButton::clicked, &form, [&form, path](bool on) { form.sweep().setVaried(path, on); });
    connect(&form, &SpecForm::changed, this, [this, &form, path] { setChecked(form.sweep().isVaried(path)); });
}

}  // namespace lockstep::ui
