#include "ui/trials/trial_table_model.h"

#include <QUndoCommand>
#include <algorithm>
#include <optional>
#include <utility>

#include "ui/trials/disk_choices.h"
#include "ui/trials/trial_filter_words.h"

namespace lockstep::ui {

namespace {

using Field = TrialEdit::Field;

constexpr std::size_t kManyEdits = 50;

// Trials may vanish for good between two steps; a command without any left takes itself off the stack.
class EditCommand : public QUndoCommand {
public:
    EditCommand(TrialTableModel& model, TrialEdits before, TrialEdits after, const QString& words)
        : QUndoCommand(words), m_model(model), m_before(std::move(before)), m_after(std::move(after)) {}
    void undo() override { setObsolete(!m_model.perform(m_before)); }
    void redo() override { setObsolete(!m_model.perform(m_after)); }

private:
    TrialTableModel& m_model;
    TrialEdits m_before, m_after;
};

std::optional<Field> fieldOf(int column) {
    switch (column) {
        case kStarColumn: return Field::Star;
        case kTitleColumn: return Field::Title;
        case kTagsColumn: return Field::Tags;
        case kNoteColumn: return Field::Note;
        default: return std::nullopt;
    }
}

TrialEdit::Value valueFrom(Field field, const QVariant& value) {
    if (field == Field::Star) return value.toBool();
    if (field == Field::Tags) return tagsFrom(value.toString());
    return value.toString().toStdString();
}

QString wordsFor(Field field, std::int64_t trial) {
    const QString number = QString::number(trial);
    switch (field) {
        case Field::Star: return TrialTableModel::tr("star of trial %1").arg(number);
        case Field::Title: return TrialTableModel::tr("title of trial %1").arg(number);
        case Field::Tags: return TrialTableModel::tr("tags of trial %1").arg(number);
        default: return TrialTableModel::tr("note of trial %1").arg(number);
    }
}

QVariant tipOf(const TrialRow& row, int column) {
    if (column == kStateColumn && !row.failure.empty()) return QString::fromStdString(row.failure);
    if (column == kNoteColumn || column == kTitleColumn || column == kTagsColumn) return cellOf(row, column);
    return {};
}

QString spokenOf(const TrialRow& row, int column) {
    if (column == kStarColumn) return row.star ? TrialTableModel::tr("starred") : TrialTableModel::tr("not starred");
    return cellOf(row, column);
}

}  // namespace

TrialTableModel::TrialTableModel(QUndoStack& undo, WriteEdits write, QObject* parent)
    : QAbstractTableModel(parent), m_undo(undo), m_write(std::move(write)) {}

void TrialTableModel::setRows(const std::vector<TrialRow>& rows) {
    m_prepared = 0;
    std::size_t at = 0, next = 0;
    std::optional<std::size_t> changedFrom;  // neighbours that change are one signal
    const auto report = [&] {
        if (changedFrom) emitChanged(*std::exchange(changedFrom, std::nullopt), at - 1);
    };
    while (at < m_entries.size() || next < rows.size()) {
        const bool gone = next == rows.size() || (at < m_entries.size() && m_entries[at].row.id > rows[next].id);
        const bool fresh = !gone && (at == m_entries.size() || m_entries[at].row.id < rows[next].id);
        if (gone || fresh) report();
        if (gone) {
            removeGone(at, next < rows.size() ? &rows[next] : nullptr);
        } else if (fresh) {
            const std::size_t count = insertFresh(at, rows, next);
            at += count, next += count;
        } else {
            if (!replace(at, rows[next])) report();
            else if (!changedFrom) changedFrom = at;
            ++at, ++next;
        }
    }
    report();
}

void TrialTableModel::removeGone(std::size_t at, const TrialRow* next) {
    std::size_t end = at;
    while (end < m_entries.size() && (!next || m_entries[end].row.id > next->id)) ++end;
    beginRemoveRows({}, static_cast<int>(at), static_cast<int>(end) - 1);
    m_entries.erase(m_entries.begin() + static_cast<std::ptrdiff_t>(at),
                    m_entries.begin() + static_cast<std::ptrdiff_t>(end));
    endRemoveRows();
}

std::size_t TrialTableModel::insertFresh(std::size_t at, const std::vector<TrialRow>& rows, std::size_t from) {
    std::vector<Entry> entries;
    for (std::size_t i = from; i < rows.size(); ++i) {
        if (at < m_entries.size() && rows[i].id <= m_entries[at].row.id) break;
        entries.push_back({rows[i], placeOf(rows[i].id), {}});
    }
    beginInsertRows({}, static_cast<int>(at), static_cast<int>(at + entries.size()) - 1);
    m_entries.insert(m_entries.begin() + static_cast<std::ptrdiff_t>(at), std::make_move_iterator(entries.begin()),
                     std::make_move_iterator(entries.end()));
    endInsertRows();
    return entries.size();
}

bool TrialTableModel::replace(std::size_t at, const TrialRow& row) {
    if (m_entries[at].row == row) return false;
    m_entries[at].haystack.clear();
    m_entries[at].row = row;
    return true;
}

void TrialTableModel::emitChanged(std::size_t first, std::size_t last) {
    emit dataChanged(index(static_cast<int>(first), 0), index(static_cast<int>(last), kTrialColumns - 1));
}

const QString& TrialTableModel::haystack(int index) const {
    const Entry& entry = m_entries[static_cast<std::size_t>(index)];
    if (entry.haystack.isEmpty()) entry.haystack = haystackOf(entry.row);
    return entry.haystack;
}

bool TrialTableModel::prepareFilter(int count) {
    for (; count > 0 && m_prepared < m_entries.size(); ++m_prepared) {
        if (!m_entries[m_prepared].haystack.isEmpty()) continue;
        haystack(static_cast<int>(m_prepared));
        --count;
    }
    return m_prepared < m_entries.size();
}

int TrialTableModel::indexOf(std::int64_t trial) const {
    const auto found = std::lower_bound(m_entries.begin(), m_entries.end(), trial,
                                        [](const Entry& entry, std::int64_t id) { return entry.row.id > id; });
    return found != m_entries.end() && found->row.id == trial ? static_cast<int>(found - m_entries.begin()) : -1;
}

const TrialRow* TrialTableModel::find(std::int64_t trial) const {
    const int at = indexOf(trial);
    return at < 0 ? nullptr : &row(at);
}

void TrialTableModel::edit(TrialEdits edits, const QString& words) {
    TrialEdits before;
    std::erase_if(edits, [&](const TrialEdit& edit) {
        const auto* known = find(edit.trial);
        return !known || valueOf(*known, edit.field) == edit.value;
    });
    if (edits.empty()) return;
    for (const auto& edit : edits) before.push_back({edit.trial, edit.field, valueOf(*find(edit.trial), edit.field)});
    m_undo.push(new EditCommand(*this, std::move(before), std::move(edits), words));
}

// Each signal costs the views and the proxy a look at all rows: many edits are one.
bool TrialTableModel::perform(const TrialEdits& edits) {
    TrialEdits known;
    const bool many = edits.size() > kManyEdits;
    std::size_t first = m_entries.size(), last = 0;
    for (const auto& edit : edits) {
        const int at = indexOf(edit.trial);
        if (at < 0) continue;
        known.push_back(edit);
        TrialRow changed = row(at);
        apply(edit, changed);
        const auto place = static_cast<std::size_t>(at);
        if (!replace(place, changed)) continue;
        first = std::min(first, place), last = std::max(last, place);
        if (!many) emitChanged(place, place);
    }
    if (many && first <= last) emitChanged(first, last);
    if (!known.empty()) m_write(known);
    return !known.empty();
}

int TrialTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_entries.size() + m_groups.sweeps.size());
}

int TrialTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kTrialColumns; }

void TrialTableModel::setWeights(std::unordered_map<std::int64_t, std::uint64_t> weights) {
    if (weights == m_weights) return;
    m_weights = std::move(weights);
    if (m_entries.empty()) return;
    emit dataChanged(index(0, kWeightColumn), index(static_cast<int>(m_entries.size()) - 1, kWeightColumn));
}

std::optional<std::uint64_t> TrialTableModel::weightOf(const TrialRow& trial) const {
    const auto found = m_weights.find(trial.id);
    return found == m_weights.end() ? std::nullopt : std::optional(found->second);
}

QVariant TrialTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    if (isSweep(index.row())) return sweepData(index.row(), role);
    const TrialRow& trial = row(index.row());
    const int column = index.column();
    if (column == kCellColumn) {
        const QVariant cell = cellData(m_entries[static_cast<std::size_t>(index.row())].place, role);
        if (cell.isValid() || role == SortRole) return cell;
    }
    if (const auto weight = column == kWeightColumn ? weightOf(trial) : std::nullopt) {
        if (role == Qt::DisplayRole) return disk_text::bytes(*weight);
        if (role == SortRole) return static_cast<double>(*weight);
        if (role == PlainRole) return QString::number(*weight);
    }
    switch (role) {
        case Qt::DisplayRole: return cellOf(trial, column);
        case Qt::EditRole: return column == kStarColumn ? QVariant(trial.star) : QVariant(cellOf(trial, column));
        case Qt::ToolTipRole: {
            const QString tip = column == kStateColumn ? rungTip(m_entries[static_cast<std::size_t>(index.row())]) : "";
            return tip.isEmpty() ? tipOf(trial, column) : tip;
        }
        case Qt::AccessibleTextRole: return spokenOf(trial, column);
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(
                Qt::Alignment(Qt::AlignVCenter | (isNumeric(column) ? Qt::AlignRight : Qt::AlignLeft)));
        case TrialRole: return QVariant::fromValue<qint64>(trial.id);
        case SortRole: return sortValueOf(trial, column);
        case PlainRole: return plainOf(trial, column);
        default: return {};
    }
}

QVariant TrialTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= kTrialColumns) return {};
    if (role == Qt::DisplayRole) return section == kStarColumn ? QStringLiteral("★") : headerOf(section);
    if (role == Qt::AccessibleTextRole) return headerOf(section);
    if (role == Qt::ToolTipRole) return meaningOf(section);
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (isNumeric(section) ? Qt::AlignRight : Qt::AlignLeft)));
    }
    return {};
}

Qt::ItemFlags TrialTableModel::flags(const QModelIndex& index) const {
    const auto usual = QAbstractTableModel::flags(index);
    if (index.isValid() && isSweep(index.row())) return usual & ~Qt::ItemIsSelectable;
    return index.isValid() && fieldOf(index.column()) ? usual | Qt::ItemIsEditable : usual;
}

bool TrialTableModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    const bool isTrial = index.isValid() && !isSweep(index.row());
    const auto field = isTrial && role == Qt::EditRole ? fieldOf(index.column()) : std::nullopt;
    if (!field) return false;
    const auto trial = row(index.row()).id;
    edit({{trial, *field, valueFrom(*field, value)}}, wordsFor(*field, trial));
    return true;
}

}  // namespace lockstep::ui
