#include "ui/trials/trials_table.h"

#include <QFocusEvent>
#include <QHeaderView>
#include <QMenu>
#include <QSettings>
#include <algorithm>

#include "ui/trials/trial_cell_delegate.h"
#include "ui/trials/trial_columns.h"

namespace lockstep::ui {

namespace {

// A layout of other columns than these would hide and size the wrong ones.
const QString kLayoutKey = QString("columns-%1").arg(kTrialColumns);

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

TrialsTable::TrialsTable(QWidget* parent) : QTableView(parent), m_columns(new QMenu(tr("Columns"), this)) {
    setAccessibleName(tr("Trials"));
    setItemDelegate(new TrialCellDelegate(this));
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
        setColumnHidden(column, !isShownAtFirst(column));
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
    if (model() && model()->rowCount() > 0 && !selectionModel()->hasSelection())
        selectOnly(std::max(0, currentIndex().row()));
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
    if (!cell.isValid()) return;
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
}

void TrialsTable::restoreLayout(const QSettings& settings) {
    auto* header = horizontalHeader();
    const QByteArray state = settings.value(kLayoutKey).toByteArray();
    if (state.isEmpty() || !header->restoreState(state)) return;
    setColumnHidden(kIdColumn, false);
    sortByColumn(header->sortIndicatorSection(), header->sortIndicatorOrder());
}

}  // namespace lockstep::ui
