#include "ui/trials/trial_filter_proxy.h"

#include <utility>

#include "ui/plot/csv_field.h"

namespace lockstep::ui {

TrialFilterProxy::TrialFilterProxy(TrialTableModel& model, QObject* parent)
    : QSortFilterProxyModel(parent), m_model(model) {
    setSortRole(TrialTableModel::SortRole);
    setSourceModel(&model);
    meetSweeps();
    m_settleSoon.setSingleShot(true);
    m_settleSoon.setInterval(0);
    connect(&m_settleSoon, &QTimer::timeout, this, &TrialFilterProxy::settle);
    connect(&model, &QAbstractItemModel::rowsInserted, this, &TrialFilterProxy::modelChanged);
    connect(&model, &QAbstractItemModel::rowsRemoved, this, &TrialFilterProxy::modelChanged);
    connect(&model, &QAbstractItemModel::dataChanged, this, [this](const QModelIndex& first) {
        if (!m_model.isSweep(first.row())) modelChanged();
    });
}

// The signals of many edits come one after another; sweeps are looked at once.
void TrialFilterProxy::modelChanged() {
    meetSweeps();
    if (m_grouped && !m_settleSoon.isActive()) m_settleSoon.start();
}

// Later a sweep folds only by hand, not beneath whoever looks at it while it ends.
void TrialFilterProxy::meetSweeps() {
    for (const TrialGroup& each : m_model.sweeps()) {
        const bool isOpen = each.state == GroupState::Active || each.state == GroupState::Paused;
        if (m_met.insert(each.id).second && !isOpen) m_folded.insert(each.id);
    }
}

void TrialFilterProxy::setShelf(Shelf shelf) {
    m_shelf = shelf;
    refilter();
}

void TrialFilterProxy::setWords(const QString& text) {
    m_words = TrialFilterWords(text);
    refilter();
}

void TrialFilterProxy::setSettings(const std::string& path, SettingValues values) {
    auto& known = m_settings[path];
    if (known == values) return;
    known = std::move(values);
    refilter();
}

void TrialFilterProxy::setGrouped(bool grouped) {
    if (m_grouped == grouped) return;
    m_grouped = grouped;
    m_units.clear();
    if (grouped && sortColumn() < 0) sort(kIdColumn, Qt::DescendingOrder);
    refilter();
    if (!grouped) invalidate();  // back into the order of trials alone
}

void TrialFilterProxy::setFolded(std::int64_t sweep, bool folded) {
    if (sweep == 0) return;
    m_met.insert(sweep);
    if (isFolded(sweep) == folded) return;
    if (folded) m_folded.insert(sweep);
    else m_folded.erase(sweep);
    invalidateRowsFilter();
    const QModelIndex row = mapFromSource(m_model.index(m_model.sweepIndex(sweep), 0));
    if (row.isValid()) emit dataChanged(row, row.siblingAtColumn(kTrialColumns - 1), {TrialTableModel::FoldedRole});
}

void TrialFilterProxy::follow(const TrialFilterProxy& other) {
    m_words = other.m_words;
    m_settings = other.m_settings;
    setShelf(other.m_shelf);
    sort(other.sortColumn(), other.sortOrder());
}

void TrialFilterProxy::refilter() {
    if (!m_grouped) return invalidateRowsFilter();
    arrange(unitsBy(sortColumn(), sortOrder()));
    emit settled();
}

void TrialFilterProxy::settle() {
    if (!m_grouped) return;
    Units units = unitsBy(sortColumn(), sortOrder());
    if (units != m_units) arrange(std::move(units));
    emit settled();
}

// The rows first, so that their comings and goings are told as such; then, if need be, their order.
void TrialFilterProxy::arrange(Units units) {
    const bool moved = units != m_units;
    m_units = std::move(units);
    invalidateRowsFilter();
    if (moved) invalidate();
}

TrialFilterProxy::Units TrialFilterProxy::unitsBy(int column, Qt::SortOrder order) {
    Units units;
    m_trials = 0;
    for (int row = 0; row < m_model.trials(); ++row) {
        if (!passes(row)) continue;
        ++m_trials;
        const std::int64_t sweep = m_model.sweepOf(row);
        if (sweep == 0) continue;
        Unit& unit = units[sweep];
        const Rank rank = rankOf(row, column);
        if (unit.trials++ == 0 || rank.comesBefore(unit.rank, order)) unit.rank = rank;
    }
    return units;
}

void TrialFilterProxy::sort(int column, Qt::SortOrder order) {
    const bool isOther = column != sortColumn() || order != sortOrder();
    if (m_grouped && isOther) m_units = unitsBy(column, order);
    QSortFilterProxyModel::sort(column, order);
}

int TrialFilterProxy::trials() const { return m_grouped ? m_trials : rowCount(); }

std::vector<std::int64_t> TrialFilterProxy::passingTrials() const {
    std::vector<std::int64_t> trials;
    for (int row = 0; row < m_model.trials(); ++row)
        if (passes(row)) trials.push_back(m_model.row(row).id);
    return trials;
}

const TrialRow& TrialFilterProxy::trial(const QModelIndex& proxyIndex) const {
    return m_model.row(mapToSource(proxyIndex).row());
}

const TrialRow* TrialFilterProxy::trialAt(const QModelIndex& proxyIndex) const {
    const QModelIndex at = mapToSource(proxyIndex);
    return at.isValid() && !m_model.isSweep(at.row()) ? &m_model.row(at.row()) : nullptr;
}

QVariant TrialFilterProxy::data(const QModelIndex& index, int role) const {
    if (!m_grouped || !index.isValid()) return QSortFilterProxyModel::data(index, role);
    const int row = mapToSource(index).row();
    if (m_model.isSweep(row)) return sweepData(index, m_model.sweepOf(row), role);
    if (role == TrialTableModel::MemberRole) return m_model.sweepOf(row) != 0;
    return QSortFilterProxyModel::data(index, role);
}

QVariant TrialFilterProxy::sweepData(const QModelIndex& index, std::int64_t sweep, int role) const {
    if (role == TrialTableModel::FoldedRole) return isFolded(sweep);
    const QVariant said = QSortFilterProxyModel::data(index, role);
    if (role == Qt::AccessibleTextRole)
        return isFolded(sweep) ? tr("%1; folded").arg(said.toString()) : tr("%1; unfolded").arg(said.toString());
    const auto unit = m_units.find(sweep);
    if (role != Qt::DisplayRole || !filtered() || unit == m_units.end()) return said;
    const int found = unit->second.trials;
    return found == 1 ? tr("%1 — 1 matches the filter").arg(said.toString())
                      : tr("%1 — %2 match the filter").arg(said.toString(), QString::number(found));
}

bool TrialFilterProxy::passes(int row) const {
    const TrialRow& trial = m_model.row(row);
    const Shelf lies = trial.deleted ? Shelf::Trash : trial.archived ? Shelf::Archived : Shelf::Current;
    if (lies != m_shelf) return false;
    return m_words.empty() || m_words.matches({trial, m_model.haystack(row), m_model.sweepOf(row)}, m_settings);
}

bool TrialFilterProxy::filterAcceptsRow(int row, const QModelIndex&) const {
    if (m_model.isSweep(row)) return m_grouped && m_units.contains(m_model.sweepOf(row));
    return !(m_grouped && isFolded(m_model.sweepOf(row))) && passes(row);
}

bool TrialFilterProxy::Rank::comesBefore(const Rank& other, Qt::SortOrder order) const {
    const QVariant &a = value, &b = other.value;
    if (a.isValid() != b.isValid()) return a.isValid();
    if (a.isValid()) {
        const bool isText = a.metaType().id() == QMetaType::QString;
        const double x = a.toDouble(), y = b.toDouble();
        const int compared = isText ? QString::compare(a.toString(), b.toString()) : (x > y) - (x < y);
        if (compared != 0) return (compared < 0) == (order == Qt::AscendingOrder);
    }
    return trial > other.trial;
}

TrialFilterProxy::Rank TrialFilterProxy::rankOf(int row, int column) const {
    return {m_model.index(row, column).data(TrialTableModel::SortRole), m_model.row(row).id};
}

// Of a trial's sweep, or of the trial where it is of none.
TrialFilterProxy::Rank TrialFilterProxy::unitRankOf(int row, int column) const {
    const std::int64_t sweep = m_grouped ? m_model.sweepOf(row) : 0;
    const auto unit = sweep == 0 ? m_units.end() : m_units.find(sweep);
    if (unit != m_units.end()) return unit->second.rank;
    return m_model.isSweep(row) ? Rank{} : rankOf(row, column);
}

bool TrialFilterProxy::comesBefore(int row, int other, int column) const {
    const std::int64_t sweep = m_grouped ? m_model.sweepOf(row) : 0;
    if (sweep == 0 || sweep != m_model.sweepOf(other))
        return unitRankOf(row, column).comesBefore(unitRankOf(other, column), sortOrder());
    if (m_model.isSweep(row) || m_model.isSweep(other)) return m_model.isSweep(row) && !m_model.isSweep(other);
    return rankOf(row, column).comesBefore(rankOf(other, column), sortOrder());
}

bool TrialFilterProxy::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    // The base class turns the result around for the descending order.
    return sortOrder() == Qt::AscendingOrder ? comesBefore(left.row(), right.row(), left.column())
                                             : comesBefore(right.row(), left.row(), left.column());
}

QString csvOf(const QAbstractItemModel& table, const QList<int>& columns) {
    QString text;
    const auto line = [&](auto&& cell) {
        QStringList cells;
        for (const int column : columns) cells << csvField(cell(column));
        text += cells.join(',') + "\r\n";
    };
    line([](int column) { return headerOf(column); });
    for (int row = 0; row < table.rowCount(); ++row) {
        line([&](int column) { return table.index(row, column).data(TrialTableModel::PlainRole).toString(); });
    }
    return text;
}

}  // namespace lockstep::ui
