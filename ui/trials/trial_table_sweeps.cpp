#include <algorithm>
#include <utility>

#include "ui/history/sweep_words.h"
#include "ui/trials/sweep_line.h"
#include "ui/trials/trial_table_model.h"

// The sweeps in the table of trials: their rows, and which trial belongs to which.
namespace lockstep::ui {

void TrialTableModel::setGroups(const TrialGroups& groups) {
    m_groups.places = groups.places;
    m_groups.cells = groups.cells;
    placeTrials();
    takeSweeps(groups.sweeps);
}

GroupPlace TrialTableModel::placeOf(std::int64_t trial) const {
    const auto found = m_groups.places.find(trial);
    return found == m_groups.places.end() ? GroupPlace{} : found->second;
}

// Trials of one sweep lie together: one signal says it of all.
void TrialTableModel::placeTrials() {
    std::size_t first = m_entries.size(), last = 0;
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        const GroupPlace place = placeOf(m_entries[i].row.id);
        if (std::exchange(m_entries[i].place, place) == place) continue;
        first = std::min(first, i), last = i;
    }
    if (first < m_entries.size()) emitChanged(first, last);
}

// There are few, and new ones are rare.
void TrialTableModel::takeSweeps(std::vector<TrialGroup> sweeps) {
    const auto rowAt = [this](std::size_t sweep) { return trials() + static_cast<int>(sweep); };
    if (std::ranges::equal(sweeps, m_groups.sweeps, {}, &TrialGroup::id, &TrialGroup::id)) {
        for (std::size_t i = 0; i < sweeps.size(); ++i) {
            if (m_groups.sweeps[i] == sweeps[i]) continue;
            m_groups.sweeps[i] = std::move(sweeps[i]);
            emit dataChanged(index(rowAt(i), 0), index(rowAt(i), kTrialColumns - 1));
        }
        return;
    }
    if (!m_groups.sweeps.empty()) {
        beginRemoveRows({}, trials(), rowCount() - 1);
        m_groups.sweeps.clear();
        endRemoveRows();
    }
    std::erase_if(m_results, [&](const auto& each) {
        return std::ranges::find(sweeps, each.first, &TrialGroup::id) == sweeps.end();
    });
    if (sweeps.empty()) return;
    beginInsertRows({}, trials(), rowAt(sweeps.size()) - 1);
    m_groups.sweeps = std::move(sweeps);
    endInsertRows();
}

void TrialTableModel::setResult(const SweepResult& result) {
    const int row = sweepIndex(result.group.id);
    m_results.insert_or_assign(result.group.id, result);
    if (row >= 0) emit dataChanged(index(row, 0), index(row, kTrialColumns - 1));
}

std::int64_t TrialTableModel::sweepOf(int index) const {
    const auto at = static_cast<std::size_t>(index);
    return isSweep(index) ? m_groups.sweeps[at - m_entries.size()].id : m_entries[at].place.group;
}

int TrialTableModel::sweepIndex(std::int64_t sweep) const {
    const auto found = std::ranges::find(m_groups.sweeps, sweep, &TrialGroup::id);
    return found == m_groups.sweeps.end() ? -1 : trials() + static_cast<int>(found - m_groups.sweeps.begin());
}

// Cells sort by their sweep, and there in the order in which they were suggested.
QVariant TrialTableModel::cellData(const GroupPlace& place, int role) const {
    constexpr double kMoreThanCells = 1e7;
    if (place.group == 0) return {};
    if (role == SortRole) return static_cast<double>(place.group) * kMoreThanCells + static_cast<double>(place.cell);
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != Qt::AccessibleTextRole && role != PlainRole)
        return {};
    const auto cells = m_groups.cells.find(place.group);
    if (cells == m_groups.cells.end()) return {};
    const auto cell = cells->second.find(place.cell);
    return cell == cells->second.end() ? QVariant() : QVariant(cellText(cell->second));
}

QString TrialTableModel::rungTip(const Entry& entry) const {
    const auto result = m_results.find(entry.place.group);
    if (result == m_results.end() || runStateFrom(entry.row.state) != RunState::Stopped) return {};
    const auto cell = std::ranges::find(result->second.cells, entry.place.cell, &CellResult::number);
    return cell == result->second.cells.end() ? QString() : rungStopText(result->second, *cell);
}

// In every column: the line runs through them all, whichever are shown.
QVariant TrialTableModel::sweepData(int index, int role) const {
    const TrialGroup& sweep = m_groups.sweeps[static_cast<std::size_t>(index) - m_entries.size()];
    if (role == SweepRole) return QVariant::fromValue<qint64>(sweep.id);
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != Qt::AccessibleTextRole) return {};
    const auto result = m_results.find(sweep.id);
    return sweepLine(sweep, result == m_results.end() ? nullptr : &result->second);
}

}  // namespace lockstep::ui
