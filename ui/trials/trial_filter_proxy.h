#pragma once
#include <QSortFilterProxyModel>

#include "ui/trials/trial_filter_words.h"
#include "ui/trials/trial_table_model.h"

namespace lockstep::ui {

enum class Shelf { Current, Archived, Trash };

// Filters and sorts a TrialTableModel; rows without a value come last in either order.
class TrialFilterProxy : public QSortFilterProxyModel {
    Q_OBJECT

public:
    explicit TrialFilterProxy(TrialTableModel& model, QObject* parent = nullptr);
    void setShelf(Shelf shelf);
    Shelf shelf() const { return m_shelf; }
    void setWords(const QString& text);  // see TrialFilterWords
    const TrialFilterWords& words() const { return m_words; }
    void setSettings(const std::string& path, SettingValues values);  // for words that ask for them
    bool filtered() const { return !m_words.empty(); }
    const TrialRow& trial(const QModelIndex& proxyIndex) const;

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    TrialTableModel& m_model;
    TrialFilterWords m_words;
    TrialFilterWords::Settings m_settings;
    Shelf m_shelf = Shelf::Current;
};

// The table as it stands (its filter, order, and `columns`) as CSV after RFC 4180, numbers unrounded.
QString csvOf(const QAbstractItemModel& table, const QList<int>& columns);

}  // namespace lockstep::ui
