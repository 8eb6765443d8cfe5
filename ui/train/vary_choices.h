#pragma once
#include <QWidget>

#include "ui/train/spec_form.h"

namespace lockstep::ui {

// What a varied choice may be, to be ticked. GUI thread.
class VaryChoices : public QWidget {
    Q_OBJECT
public:
    VaryChoices(SpecForm& form, const FormField& field, QWidget* parent = nullptr);

private:
    void addChoice(const QString& id, const QString& title, const QString& meaning);
    void tick(const QString& id, bool on);
    void follow();

    SpecForm& m_form;
    const FormField m_field;
    QStringList m_ids;
};

}  // namespace lockstep::ui
