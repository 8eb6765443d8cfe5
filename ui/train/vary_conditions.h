#pragma once
#include <QVBoxLayout>
#include <QWidget>
#include <vector>

#include "ui/train/asked_settings.h"
#include "ui/train/spec_form.h"

class QComboBox;
class QMenu;
class QPushButton;

namespace lockstep::ui {

class QuietButton;

// One condition of a varied setting, in a row: "only when" another one "is" one of some values. GUI thread.
class VaryCondition : public QWidget {
    Q_OBJECT
public:
    VaryCondition(SpecForm& form, const QString& path, int index, QWidget* parent = nullptr);

    void follow();
    void takeFocus();

signals:
    void removed();

private:
    QComboBox* makeSetting();
    QPushButton* makeValues();
    void fillMenu();
    void ask(const QString& about);
    void tick(const ParamValue& value, bool on);
    DimensionCondition condition() const;
    std::vector<AskedSetting> offered() const;
    void put(DimensionCondition condition);
    QString name(const char* part) const;

    SpecForm& m_form;
    const QString m_path;
    const int m_index;
    QComboBox* m_setting;
    QPushButton* m_values;
    QMenu* m_menu;
};

// All conditions of a varied setting, below its values: a few words until there is one. GUI thread.
class VaryConditions : public QWidget {
    Q_OBJECT
public:
    VaryConditions(SpecForm& form, const QString& path, QWidget* parent = nullptr);

private:
    void follow();
    void add();
    void remove(int index);
    std::vector<AskedSetting> unasked() const;

    SpecForm& m_form;
    const QString m_path;
    std::vector<VaryCondition*> m_rows;
    QVBoxLayout* m_column;
    QuietButton* m_more;
};

}  // namespace lockstep::ui
