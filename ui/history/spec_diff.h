#pragma once
#include <QAbstractTableModel>
#include <QString>
#include <QStringList>
#include <span>
#include <vector>

#include "engine/spec/trial_spec.h"

namespace lockstep::ui {

// One field of several specs: its value in each, in their order; null where a spec does not state it (the default
// holds).
struct SpecField {
    QString key;  // the setting's path: "optimizer.momentum"
    QStringList values;
    bool operator==(const SpecField&) const = default;
};

// All fields in the order of the specs' files, or only those in which they differ.
std::vector<SpecField> fieldsOf(std::span<const TrialSpec> specs);
std::vector<SpecField> differencesOf(std::span<const TrialSpec> specs);
// "optimizer.momentum": "Optimizer: momentum"; what was chosen has the name of the choice.
QString settingName(const QString& path);

// Fields as rows, specs as columns: for one spec all it states, for several what they differ in. Rows are named as in
// the form, with the key of the spec file as their tip. The window's thread.
class SpecDiffModel : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;
    void show(std::span<const TrialSpec> specs, QStringList names);
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<SpecField> m_fields;
    QStringList m_names;
};

}  // namespace lockstep::ui
