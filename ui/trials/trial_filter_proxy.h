#pragma once
#include <QSortFilterProxyModel>
#include <QTimer>
#include <map>
#include <set>

#include "ui/trials/trial_filter_words.h"
#include "ui/trials/trial_table_model.h"

namespace lockstep::ui {

enum class Shelf { Current, Archived, Trash };

// Filters and sorts a TrialTableModel; rows without a value come last in either order. In groups, the trials of a sweep
// stand together beneath its row, in the place of whichever of them comes first, unless they are folded away; the row
// is there while any of them passes the filter. What others change of the model moves sweeps by the next turn of the
// event loop. The window's thread.
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
    void setGrouped(bool grouped);
    bool isGrouped() const { return m_grouped; }
    // As it is at first where the sweep has ended before it was seen.
    void setFolded(std::int64_t sweep, bool folded);
    bool isFolded(std::int64_t sweep) const { return m_folded.contains(sweep); }
    void follow(const TrialFilterProxy& other);  // its filter and order, but all trials, without sweeps

    int trials() const;                                            // that pass the filter, folded away or not
    std::vector<std::int64_t> passingTrials() const;               // the same by number, in no order
    const TrialRow& trial(const QModelIndex& proxyIndex) const;    // of a trial's row
    const TrialRow* trialAt(const QModelIndex& proxyIndex) const;  // null: a sweep's row, or none
    QVariant data(const QModelIndex& index, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

signals:
    void settled();  // sweeps are where they belong, and trials() is what it is now

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    // Where a trial stands: by its value, then the newest first.
    struct Rank {
        QVariant value;
        std::int64_t trial = 0;
        bool operator==(const Rank&) const = default;
        bool comesBefore(const Rank& other, Qt::SortOrder order) const;
    };
    // Of a sweep: where its first trial stands, and how many pass the filter.
    struct Unit {
        Rank rank;
        int trials = 0;
        bool operator==(const Unit&) const = default;
    };
    using Units = std::map<std::int64_t, Unit>;

    void modelChanged();
    void meetSweeps();
    void refilter();
    void settle();
    void arrange(Units units);
    Units unitsBy(int column, Qt::SortOrder order);
    bool passes(int row) const;
    Rank rankOf(int row, int column) const;
    Rank unitRankOf(int row, int column) const;
    bool comesBefore(int row, int other, int column) const;
    QVariant sweepData(const QModelIndex& index, std::int64_t sweep, int role) const;

    TrialTableModel& m_model;
    TrialFilterWords m_words;
    TrialFilterWords::Settings m_settings;
    Shelf m_shelf = Shelf::Current;
    bool m_grouped = false;
    std::set<std::int64_t> m_met, m_folded;  // sweeps
    Units m_units;
    int m_trials = 0;  // in groups
    QTimer m_settleSoon;
};

// The table as it stands (its filter, order, and `columns`) as CSV after RFC 4180, numbers unrounded.
QString csvOf(const QAbstractItemModel& table, const QList<int>& columns);

}  // namespace lockstep::ui
