#include "ui/queue/queue_table_model.h"

#include <QByteArrayList>
#include <QMimeData>
#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "ui/queue/queue_text.h"
#include "ui/style/plain_text.h"

namespace lockstep::ui {

namespace {

const QString kDragged = QStringLiteral("application/x-lockstep-trials");

struct Heading {
    const char* words;
    const char* meaning;
};
constexpr std::array<Heading, QueueTableModel::ColumnCount> kHeadings{{
    {QT_TRANSLATE_NOOP("lockstep::ui::QueueTableModel", "Trial"),
     QT_TRANSLATE_NOOP("lockstep::ui::QueueTableModel", "The trial's number, with the colour of its curves")},
    {QT_TRANSLATE_NOOP("lockstep::ui::QueueTableModel", "State"),
     QT_TRANSLATE_NOOP("lockstep::ui::QueueTableModel", "How far it has come, or why it waits")},
    {QT_TRANSLATE_NOOP("lockstep::ui::QueueTableModel", "Sweep"),
     QT_TRANSLATE_NOOP("lockstep::ui::QueueTableModel", "The sweep that made it")},
    {QT_TRANSLATE_NOOP("lockstep::ui::QueueTableModel", "Priority"),
     QT_TRANSLATE_NOOP("lockstep::ui::QueueTableModel", "Higher ones go first")},
    {QT_TRANSLATE_NOOP("lockstep::ui::QueueTableModel", "Model"),
     QT_TRANSLATE_NOOP("lockstep::ui::QueueTableModel", "The architecture that is trained")},
    {QT_TRANSLATE_NOOP("lockstep::ui::QueueTableModel", "Devices"),
     QT_TRANSLATE_NOOP("lockstep::ui::QueueTableModel",
                       "What it trains on; it waits until the machine has room for it")},
    {QT_TRANSLATE_NOOP("lockstep::ui::QueueTableModel", "Title"),
     QT_TRANSLATE_NOOP("lockstep::ui::QueueTableModel", "The trial's title")},
}};

bool isNumber(int column) {
    return column == QueueTableModel::TrialColumn || column == QueueTableModel::SweepColumn ||
           column == QueueTableModel::PriorityColumn;
}

QString cellOf(const QueueRow& row, int column) {
    const QueueEntry& entry = row.line.entry;
    const TrialRow& trial = row.line.row;
    switch (column) {
        case QueueTableModel::TrialColumn: return QString::number(entry.trial);
        case QueueTableModel::StateColumn: return queueStateText(row);
        case QueueTableModel::SweepColumn: return entry.place ? QString::number(entry.place->group) : QString();
        case QueueTableModel::PriorityColumn: return QString::number(entry.priority);
        case QueueTableModel::ModelColumn: return oneLine(trial.model);
        case QueueTableModel::DevicesColumn: return oneLine(trial.devices);
        case QueueTableModel::TitleColumn: return oneLine(trial.title);
        default: return {};
    }
}

ChosenTrials trialsIn(const QMimeData& dragged) {
    ChosenTrials trials;
    for (const QByteArray& each : dragged.data(kDragged).split(',')) trials.insert(each.toLongLong());
    return trials;
}

}  // namespace

int QueueTableModel::running() const {
    return static_cast<int>(std::ranges::count_if(m_rows, [](const QueueRow& each) { return each.line.isRunning; }));
}

void QueueTableModel::setRows(std::vector<QueueRow> rows) {
    removeGone(rows);
    appendFresh(rows);
    putInOrder(std::move(rows));
    if (!m_rows.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

void QueueTableModel::removeGone(const std::vector<QueueRow>& rows) {
    std::unordered_set<std::int64_t> kept;
    for (const QueueRow& each : rows) kept.insert(each.line.entry.trial);
    for (int row = rowCount() - 1; row >= 0; --row) {
        if (kept.contains(trialAt(row))) continue;
        beginRemoveRows({}, row, row);
        m_rows.erase(m_rows.begin() + row);
        endRemoveRows();
    }
}

void QueueTableModel::appendFresh(const std::vector<QueueRow>& rows) {
    std::unordered_set<std::int64_t> known;
    for (const QueueRow& each : m_rows) known.insert(each.line.entry.trial);
    std::vector<QueueRow> fresh;
    std::ranges::copy_if(rows, std::back_inserter(fresh),
                         [&](const QueueRow& each) { return !known.contains(each.line.entry.trial); });
    if (fresh.empty()) return;
    beginInsertRows({}, rowCount(), rowCount() + static_cast<int>(fresh.size()) - 1);
    m_rows.insert(m_rows.end(), std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end()));
    endInsertRows();
}

// The same trials as there are.
void QueueTableModel::putInOrder(std::vector<QueueRow> rows) {
    const auto trial = [](const QueueRow& each) { return each.line.entry.trial; };
    if (std::ranges::equal(m_rows, rows, {}, trial, trial)) {
        m_rows = std::move(rows);
        return;
    }
    emit layoutAboutToBeChanged();
    std::unordered_map<std::int64_t, int> places;
    for (const QueueRow& each : rows) places.emplace(trial(each), static_cast<int>(places.size()));
    const QModelIndexList before = persistentIndexList();
    QModelIndexList after;
    for (const QModelIndex& each : before) after << index(places.at(trialAt(each.row())), each.column());
    m_rows = std::move(rows);
    changePersistentIndexList(before, after);
    emit layoutChanged();
}

int QueueTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int QueueTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant QueueTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const QueueRow& row = m_rows[static_cast<std::size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole: return cellOf(row, index.column());
        case Qt::ToolTipRole:
            return index.column() == StateColumn || index.column() == TitleColumn ? cellOf(row, index.column())
                                                                                  : QVariant();
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(
                Qt::Alignment(Qt::AlignVCenter | (isNumber(index.column()) ? Qt::AlignRight : Qt::AlignLeft)));
        case TrialRole: return QVariant::fromValue<qint64>(row.line.entry.trial);
        case ShareRole: {
            const auto share = shareDone(row);
            return share ? QVariant(*share) : QVariant();
        }
        case HeldRole: return row.line.reason == WaitReason::Held;
        default: return {};
    }
}

QVariant QueueTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    const Heading& heading = kHeadings[static_cast<std::size_t>(section)];
    switch (role) {
        case Qt::DisplayRole: return tr(heading.words);
        case Qt::ToolTipRole: return tr(heading.meaning);
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(
                Qt::Alignment(Qt::AlignVCenter | (isNumber(section) ? Qt::AlignRight : Qt::AlignLeft)));
        default: return {};
    }
}

// Dropped is between rows, never onto one.
Qt::ItemFlags QueueTableModel::flags(const QModelIndex& index) const {
    if (!index.isValid()) return Qt::ItemIsDropEnabled;
    const auto usual = QAbstractTableModel::flags(index);
    return index.row() >= running() ? usual | Qt::ItemIsDragEnabled : usual;
}

QStringList QueueTableModel::mimeTypes() const { return {kDragged}; }

QMimeData* QueueTableModel::mimeData(const QModelIndexList& indexes) const {
    ChosenTrials trials;
    for (const QModelIndex& each : indexes) trials.insert(trialAt(each.row()));
    QByteArrayList words;
    for (const std::int64_t each : trials) words << QByteArray::number(static_cast<qlonglong>(each));
    auto* dragged = new QMimeData;
    dragged->setData(kDragged, words.join(','));
    return dragged;
}

// `row`: the one that it would come before; -1: below all.
bool QueueTableModel::canDropMimeData(const QMimeData* dragged, Qt::DropAction action, int row, int,
                                      const QModelIndex& parent) const {
    return dragged && dragged->hasFormat(kDragged) && action == Qt::MoveAction && !parent.isValid() &&
           (row < 0 || row >= running());
}

bool QueueTableModel::dropMimeData(const QMimeData* dragged, Qt::DropAction action, int row, int column,
                                   const QModelIndex& parent) {
    if (!canDropMimeData(dragged, action, row, column, parent)) return false;
    const ChosenTrials trials = trialsIn(*dragged);
    int at = row < 0 ? rowCount() : row;
    while (at < rowCount() && trials.contains(trialAt(at))) ++at;  // its own place, among the others
    emit moveWanted(trials, at < rowCount() ? trialAt(at) : 0);
    return true;
}

}  // namespace lockstep::ui
