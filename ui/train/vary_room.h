#pragma once
#include <QVBoxLayout>
#include <QWidget>

#include "ui/train/spec_form.h"

namespace lockstep::ui {

// The place of a setting's values below its field: empty and hidden while it is not varied. GUI thread.
class VaryRoom : public QWidget {
    Q_OBJECT
public:
    enum class Name { None, Shown };  // none where the field's own label stands above
    VaryRoom(SpecForm& form, const QString& path, Name name = Name::None, QWidget* parent = nullptr);

private:
    void follow();
    void clear();
    QWidget* makeEditor();

    SpecForm& m_form;
    const QString m_path;
    const Name m_name;
    QWidget* m_editor = nullptr;
};

}  // namespace lockstep::ui
