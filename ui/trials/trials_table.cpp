#include "ui/trials/trials_table.h"

#include <QFocusEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QSettings>
#include <algorithm>
#include <utility>

#include "ui/trials/trial_cell_delegate.h"
#include "ui/trials/trial_columns.h"
#include "ui/trials/trial_table_model.h"

namespace lockstep::ui {

namespace {

// A layout of other columns than these would hide and size the wrong ones.
const QString kLayoutKey = QString("columns-%1").arg(kTrialColumns), kCellsKey = "cells";

// 0: not that of a sweep.
std::int64_t sweepIn(const QModelIndex& row) { return row.data(TrialTableModel::SweepRole).toLongLong(); }

class TableHeader : public QHeaderView {
public:
    explicit TableHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {}

protected:
    void initStyleOptionForIndex(QStyleOptionHeader* option, int column) const override {
        QHeaderView::initStyleOptionForIndex(option, column);
        if (isNumeric(column)) option->text += QChar(0x2002);  // as the cells beneath
    }
};

}  // namespace

TrialsTable::TrialsTable(const TrialSelection* selection, QWidget* parent)
    : QTableView(parent), m_columns(new QMenu(tr("Columns"), this)) {
    setAccessibleName(tr("Trials"));
    setItemDelegate(new TrialCellDelegate(selection, this));
    connect(selection, &TrialSelection::pinnedChanged, viewport(), qOverload<>(&QWidget::update));
    setSelectionBehavior(SelectRows);
    setSelectionMode(ExtendedSelection);
    setEditTriggers(NoEditTriggers);  // F2 is an action of the page
    setShowGrid(false);
    setAlternatingRowColors(true);
    setWordWrap(false);
    setTabKeyNavigation(false);
    setHorizontalScrollMode(ScrollPerPixel);
    setContextMenuPolicy(Qt::CustomContextMenu);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 12);
    auto* header = new TableHeader(this);
    setHorizontalHeader(header);
    header->setSectionsClickable(true);
    header->setSectionsMovable(true);
    header->setHighlightSections(false);
    header->setMinimumSectionSize(30);
    header->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(header, &QWidget::customContextMenuRequested, this,
            [=, this](const QPoint& at) { m_columns->popup(header->mapToGlobal(at)); });
    setMouseTracking(true);
    connect(this, &QAbstractItemView::entered, this, &TrialsTable::hovered);
    connect(this, &QAbstractItemView::viewportEntered, this, [this] { emit hovered({}); });
    connect(m_columns, &QMenu::aboutToShow, this, &TrialsTable::fillColumnsMenu);
}

void TrialsTable::setModel(QAbstractItemModel* model) {
    QTableView::setModel(model);
    setSortingEnabled(true);
    resetColumns();
}

void TrialsTable::resetColumns() {
    auto* header = horizontalHeader();
    for (int column = 0; column < kTrialColumns; ++column) {
        header->moveSection(header->visualIndex(column), column);
        setColumnHidden(column, column == kCellColumn ? !m_hasCells : !isShownAtFirst(column));
        setColumnWidth(column, widthOf(column));
    }
    sortByColumn(kIdColumn, Qt::DescendingOrder);
}

void TrialsTable::fillColumnsMenu() {
    m_columns->clear();
    for (int column = 0; column < kTrialColumns; ++column) {
        auto* action = m_columns->addAction(headerOf(column));
        action->setCheckable(true);
        action->setChecked(!isColumnHidden(column));
        action->setEnabled(column != kIdColumn);  // one that always says which trial it is
        connect(action, &QAction::toggled, this, [this, column](bool shown) { setColumnHidden(column, !shown); });
    }
    m_columns->addSeparator();
    m_columns->addAction(tr("Reset columns"), this, &TrialsTable::resetColumns);
}

// Its viewport is left for the header, too.
bool TrialsTable::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave) emit hovered({});
    return QTableView::viewportEvent(event);
}

// A table that is entered by the keyboard has a trial to act on; with a single row the arrow keys would never select
// it.
void TrialsTable::focusInEvent(QFocusEvent* event) {
    QTableView::focusInEvent(event);
    if (event->reason() != Qt::MouseFocusReason) selectSomething();
}

void TrialsTable::selectSomething() {
    if (sweepIn(currentIndex()) != 0) return;  // which a person may want to fold
    if (model() && model()->rowCount() > 0 && !selectionModel()->hasSelection())
        selectNear(std::max(0, currentIndex().row()));
}

void TrialsTable::selectNear(int row) {
    const auto isTrial = [this](int each) { return sweepIn(model()->index(each, kIdColumn)) == 0; };
    const int rows = model()->rowCount();
    int near = std::clamp(row, 0, std::max(0, rows - 1));
    while (near < rows && !isTrial(near)) ++near;
    if (near == rows) near = std::min(row, rows - 1);
    while (near >= 0 && !isTrial(near)) --near;
    if (near >= 0 && rows > 0) selectOnly(near);
}

void TrialsTable::setHasCells(bool has) {
    if (std::exchange(m_hasCells, has) != has) setColumnHidden(kCellColumn, !has);
}

std::vector<std::int64_t> TrialsTable::sweepsInView() const {
    std::vector<std::int64_t> sweeps;
    const int first = rowAt(0), last = rowAt(viewport()->height() - 1), rows = model()->rowCount();
    for (int row = std::max(0, first); row <= (last < 0 ? rows - 1 : last); ++row) {
        if (const auto sweep = sweepIn(model()->index(row, kIdColumn))) sweeps.push_back(sweep);
    }
    return sweeps;
}

// False: it is no sweep's row. Without a wish, the other way round.
bool TrialsTable::fold(const QModelIndex& row, std::optional<bool> wish) {
    const auto sweep = sweepIn(row);
    if (sweep == 0) return false;
    emit foldWanted(sweep, wish.value_or(!row.data(TrialTableModel::FoldedRole).toBool()));
    return true;
}

void TrialsTable::keyPressEvent(QKeyEvent* event) {
    const auto folds = [&]() -> bool {
        switch (event->key()) {
            case Qt::Key_Left: return fold(currentIndex(), true);
            case Qt::Key_Right: return fold(currentIndex(), false);
            case Qt::Key_Space:
            case Qt::Key_Return:
            case Qt::Key_Enter: return fold(currentIndex());
            default: return false;
        }
    };
    const bool isPlain = (event->modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier;
    if (!isPlain || !folds()) QTableView::keyPressEvent(event);
}

void TrialsTable::mousePressEvent(QMouseEvent* event) {
    const QPoint at = event->position().toPoint();
    const bool isTriangle = event->button() == Qt::LeftButton && at.x() + horizontalHeader()->offset() < kFoldWidth;
    if (!isTriangle || !fold(indexAt(at))) QTableView::mousePressEvent(event);
}

// On the triangle it is two clicks.
void TrialsTable::mouseDoubleClickEvent(QMouseEvent* event) {
    const bool isLeft = event->button() == Qt::LeftButton;
    if (!isLeft || !fold(indexAt(event->position().toPoint()))) QTableView::mouseDoubleClickEvent(event);
}

void TrialsTable::rowsInserted(const QModelIndex& parent, int first, int last) {
    QTableView::rowsInserted(parent, first, last);
    if (hasFocus()) selectSomething();
}

void TrialsTable::selectOnly(int row) {
    const int column = currentIndex().isValid() ? currentIndex().column() : kIdColumn;
    selectionModel()->setCurrentIndex(model()->index(row, column),
                                      QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
}

void TrialsTable::editCell() {
    auto cell = currentIndex();
    if (!cell.isValid() || sweepIn(cell) != 0) return;
    const bool typed =
        cell.flags().testFlag(Qt::ItemIsEditable) && cell.column() != kStarColumn && !isColumnHidden(cell.column());
    if (!typed) cell = cell.siblingAtColumn(kTitleColumn);
    setColumnHidden(cell.column(), false);
    scrollTo(cell);
    edit(cell);
}

QList<int> TrialsTable::shownColumns() const {
    QList<int> columns;
    for (int place = 0; place < kTrialColumns; ++place) {
        const int column = horizontalHeader()->logicalIndex(place);
        if (!isColumnHidden(column)) columns << column;
    }
    return columns;
}

void TrialsTable::saveLayout(QSettings& settings) const {
    settings.setValue(kLayoutKey, horizontalHeader()->saveState());
    settings.setValue(kCellsKey, m_hasCells);
}

void TrialsTable::restoreLayout(const QSettings& settings) {
    auto* header = horizontalHeader();
    const QByteArray state = settings.value(kLayoutKey).toByteArray();
    if (state.isEmpty() || !header->restoreState(state)) return;
    setColumnHidden(kIdColumn, false);
    m_hasCells = settings.value(kCellsKey).toBool();
    sortByColumn(header->sortIndicatorSection(), header->sortIndicatorOrder());
}

}  // namespace lockstep::ui
