#include "ui/compare/compare_list.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <algorithm>
#include <cmath>

#include "ui/compare/mark_delegate.h"
#include "ui/plot/csv_field.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

// Settings, then the objective and what else was measured: the objective first, for it is what they are ordered by.
void CompareListModel::setScene(SharedScene scene) {
    beginResetModel();
    m_scene = std::move(scene);
    fill();
    endResetModel();
}

void CompareListModel::fill() {
    m_places.clear();
    m_axes.clear();
    if (m_scene) {
        const CompareTable& table = *m_scene->table;
        for (const auto row : m_scene->ranking)
            if (m_scene->passes[row]) m_places.push_back(row);
        if (table.objective) m_axes.push_back(*table.objective);
        for (std::size_t axis = 0; axis < table.axes.size(); ++axis)
            if (axis != table.objective) m_axes.push_back(axis);
    }
    const int column = sortedBy();
    if (column < 0) return;
    // What has no value comes last, whichever way.
    const CompareAxis* axis = axisAt(column);
    const auto value = [&](std::size_t row) {
        return axis ? axis->values[row] : static_cast<double>(m_scene->table->trials[row].trial);
    };
    std::ranges::stable_sort(m_places, [&](std::size_t a, std::size_t b) {
        const bool has = std::isfinite(value(a)), hasOther = std::isfinite(value(b));
        if (has != hasOther || !has) return has && !hasOther;
        return m_descends ? value(a) > value(b) : value(a) < value(b);
    });
}

void CompareListModel::sort(int column, Qt::SortOrder order) {
    const CompareAxis* axis = column > 0 && column < columnCount() ? axisAt(column) : nullptr;
    m_sortedBy = column < 0 ? std::nullopt : std::optional(axis ? axis->key : std::string());
    m_descends = order == Qt::DescendingOrder;
    beginResetModel();
    fill();
    endResetModel();
}

int CompareListModel::sortedBy() const {
    if (!m_sortedBy || !m_scene) return -1;
    if (m_sortedBy->empty()) return 0;
    const auto axis = m_scene->table->axisOf(*m_sortedBy);
    const auto found = axis ? std::ranges::find(m_axes, *axis) : m_axes.end();
    return found == m_axes.end() ? -1 : static_cast<int>(found - m_axes.begin()) + 1;
}

std::optional<std::size_t> CompareListModel::rowAt(int place) const {
    return place < 0 || place >= std::ssize(m_places) ? std::nullopt
                                                      : std::optional(m_places[static_cast<std::size_t>(place)]);
}

int CompareListModel::placeOf(std::int64_t trial) const {
    const auto row = m_scene ? m_scene->table->rowOf(trial) : std::nullopt;
    const auto found = row ? std::ranges::find(m_places, *row) : m_places.end();
    return found == m_places.end() ? -1 : static_cast<int>(found - m_places.begin());
}

int CompareListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_places.size());
}

int CompareListModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() || !m_scene ? 0 : static_cast<int>(1 + m_axes.size());
}

const CompareAxis* CompareListModel::axisAt(int column) const {
    return column == 0 ? nullptr : &m_scene->table->axes[m_axes[static_cast<std::size_t>(column - 1)]];
}

QVariant CompareListModel::text(std::size_t row, int column) const {
    const CompareAxis* axis = axisAt(column);
    return axis ? axis->cell(row) : m_scene->table->trials[row].name;
}

QVariant CompareListModel::data(const QModelIndex& index, int role) const {
    const auto row = rowAt(index.row());
    if (!row) return {};
    const ComparedTrial& trial = m_scene->table->trials[*row];
    const CompareAxis* axis = axisAt(index.column());
    switch (role) {
        case Qt::DisplayRole: return text(*row, index.column());
        case Qt::EditRole:
            if (axis && !axis->isChoice() && std::isfinite(axis->values[*row])) return axis->values[*row];
            return text(*row, index.column());
        case Qt::ToolTipRole: return trial.failure.isEmpty() ? trial.name : trial.name + '\n' + trial.failure;
        case Qt::TextAlignmentRole:
            return QVariant::fromValue((axis && !axis->isChoice() ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        case Qt::ForegroundRole:
            return trial.hasFailed() || trial.isCutShort ? QVariant(currentTheme().muted) : QVariant();
        case RowRole: return QVariant::fromValue(static_cast<qulonglong>(*row));
        default: return {};
    }
}

QVariant CompareListModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || !m_scene) return {};
    const CompareAxis* axis = axisAt(section);
    if (role == Qt::DisplayRole) return axis ? axis->name : tr("Trial");
    if (role == Qt::ToolTipRole && axis) return QString::fromStdString(axis->key);
    return {};
}

CompareList::CompareList(TrialSelection* selection, QWidget* parent)
    : QTableView(parent), m_selection(*selection), m_model(this) {
    setObjectName("compareList");
    setAccessibleName(tr("Trials that are compared, the best first"));
    setModel(&m_model);
    setItemDelegate(new MarkDelegate(m_selection, m_model, this));
    setSelectionBehavior(SelectRows);
    setSelectionMode(ExtendedSelection);
    setEditTriggers(NoEditTriggers);
    setShowGrid(false);
    setAlternatingRowColors(true);
    setWordWrap(false);
    setTabKeyNavigation(false);
    setMouseTracking(true);
    setHorizontalScrollMode(ScrollPerPixel);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 12);
    QHeaderView& header = *horizontalHeader();
    header.setHighlightSections(false);
    header.setSectionsClickable(true);
    header.setSortIndicatorShown(true);
    header.setSortIndicatorClearable(true);  // a third click: the best first again
    header.setSortIndicator(-1, Qt::AscendingOrder);
    connect(&header, &QHeaderView::sortIndicatorChanged, this,
            [this](int column, Qt::SortOrder order) { keepChosen([&] { m_model.sort(column, order); }); });
    connect(&m_selection, &TrialSelection::hoveredChanged, this, &CompareList::showHovered);
    connect(&m_selection, &TrialSelection::pinnedChanged, viewport(), qOverload<>(&QWidget::update));
    connect(this, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
        if (const auto trial = trialAt(index)) emit openWanted(*trial);
    });
}

void CompareList::setScene(SharedScene scene) {
    const int columns = m_model.columnCount();
    keepChosen([&] { m_model.setScene(std::move(scene)); });
    const QSignalBlocker blocker(horizontalHeader());
    if (horizontalHeader()->sortIndicatorSection() != m_model.sortedBy())
        horizontalHeader()->setSortIndicator(m_model.sortedBy(), horizontalHeader()->sortIndicatorOrder());
    if (columns != m_model.columnCount()) resizeColumnsToContents();
}

template <class Change>
void CompareList::keepChosen(Change&& change) {
    const auto kept = chosen();
    const auto current = trialAt(currentIndex());
    change();
    const int at = current ? m_model.placeOf(*current) : -1;
    if (at >= 0) selectionModel()->setCurrentIndex(m_model.index(at, 0), QItemSelectionModel::NoUpdate);
    for (const auto trial : kept) {
        const int place = m_model.placeOf(trial);
        if (place >= 0)
            selectionModel()->select(m_model.index(place, 0), QItemSelectionModel::Select | QItemSelectionModel::Rows);
    }
}

std::optional<std::int64_t> CompareList::trialAt(const QModelIndex& index) const {
    const auto row = m_model.rowAt(index.row());
    return row ? std::optional(m_model.scene()->table->trials[*row].trial) : std::nullopt;
}

std::vector<std::int64_t> CompareList::chosen() const {
    std::vector<int> places;
    for (const QModelIndex& each : selectionModel()->selectedRows()) places.push_back(each.row());
    std::ranges::sort(places);
    std::vector<std::int64_t> trials;
    for (const int place : places)
        if (const auto trial = trialAt(m_model.index(place, 0))) trials.push_back(*trial);
    return trials;
}

void CompareList::togglePin(const QModelIndex& index) {
    if (const auto trial = trialAt(index)) m_selection.pin(*trial, !m_selection.placeOf(*trial));
}

void CompareList::showHovered() { viewport()->update(); }

bool CompareList::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::MouseMove)
        m_selection.setHovered(trialAt(indexAt(static_cast<QMouseEvent*>(event)->position().toPoint())));
    if (event->type() == QEvent::Leave) m_selection.setHovered(std::nullopt);
    return QTableView::viewportEvent(event);
}

void CompareList::mousePressEvent(QMouseEvent* event) {
    const QModelIndex index = indexAt(event->position().toPoint());
    const bool isMark = index.isValid() && index.column() == 0 &&
                        event->position().x() < visualRect(index).left() + MarkDelegate::kMarkWidth;
    if (isMark && event->button() == Qt::LeftButton) return togglePin(index);
    QTableView::mousePressEvent(event);
}

void CompareList::keyPressEvent(QKeyEvent* event) {
    const QModelIndex index = currentIndex();
    if (event->key() == Qt::Key_Space && index.isValid()) return togglePin(index);
    const bool opens = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (const auto trial = opens ? trialAt(index) : std::nullopt) return emit openWanted(*trial);
    QTableView::keyPressEvent(event);
}

void CompareList::selectionChanged(const QItemSelection& now, const QItemSelection& before) {
    QTableView::selectionChanged(now, before);
    emit chosenChanged();
}

QByteArray CompareList::csv() const {
    QStringList lines, names;
    for (int column = 0; column < m_model.columnCount(); ++column) {
        const QString key = m_model.headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString();
        names << csvField(key.isEmpty() ? "trial" : key);
    }
    lines << names.join(',');
    for (int row = 0; row < m_model.rowCount(); ++row) {
        QStringList cells;
        for (int column = 0; column < m_model.columnCount(); ++column) {
            const QVariant value = m_model.data(m_model.index(row, column), Qt::EditRole);
            const bool isNumber = value.typeId() == QMetaType::Double;
            cells << (column == 0 ? QString::number(*trialAt(m_model.index(row, 0)))
                      : isNumber  ? QString::number(value.toDouble(), 'g', 17)
                                  : csvField(value.toString()));
        }
        lines << cells.join(',');
    }
    return (lines.join("\r\n") + "\r\n").toUtf8();
}

}  // namespace lockstep::ui
