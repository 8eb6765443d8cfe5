#pragma once
#include <QObject>
#include <QTimer>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/compare/compare_table.h"
#include "ui/history/trial_selection.h"

namespace lockstep::ui {

// Keeps the table of what is compared true: reads settings and the sweep when the selection's scope or the history's
// rows change, makes the table on another thread, and says it. What comes faster than it can be read is left out, the
// last never. GUI thread.
class CompareFeed : public QObject {
    Q_OBJECT
public:
    CompareFeed(HistoryService* history, TrialSelection* selection, QObject* parent = nullptr);

    void setFollowing(bool follows);  // whether anybody looks; what has changed meanwhile is read then
    void readAgain();                 // also where nothing has changed
    // Of trials as a whole, beside their rows: in the next table. kTimeToTarget, kMemory.
    void setMeasured(const std::string& key, std::map<std::int64_t, double> values);
    void setTasks(std::map<std::int64_t, std::string> tasks);  // likewise
    const TrialGroups& groups() const { return m_groups; }
    bool hasRead() const { return m_hasRead; }

signals:
    void groupsChanged();
    // Of no trials where the scope has none. `sweep`: null, of trials of the list.
    void tableMade(const std::shared_ptr<const lockstep::ui::CompareTable>& table,
                   const std::shared_ptr<const lockstep::SweepResult>& sweep);
    void unreadable(const lockstep::Problem& problem);  // the sweep, or the history

private:
    void read();
    void readSettings(std::optional<SweepResult> sweep);
    void make(DifferingSettings settings, std::optional<SweepResult> sweep);
    std::vector<TrialRow> rowsInScope(const SweepResult* sweep) const;  // null: of the list

    HistoryService& m_history;
    TrialSelection& m_selection;
    std::vector<TrialRow> m_rows;
    TrialGroups m_groups;
    std::map<std::string, std::map<std::int64_t, double>> m_measured;
    std::map<std::int64_t, std::string> m_tasks;
    QTimer m_soon;
    bool m_follows = false, m_isStale = true, m_hasRead = false;
    bool m_isReading = false;  // an answer is on its way
};

}  // namespace lockstep::ui
