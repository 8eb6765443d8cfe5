#include "ui/queue/queue_table.h"

#include <QDragMoveEvent>
#include <QHeaderView>
#include <QPainter>
#include <algorithm>
#include <array>

#include "ui/queue/queue_cell_delegate.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr std::array<int, QueueTableModel::ColumnCount> kWidths{84, 170, 60, 66, 110, 80, 190};

}  // namespace

QueueTable::QueueTable(QueueTableModel* model, const TrialSelection* selection, QWidget* parent)
    : QTableView(parent), m_model(*model) {
    setObjectName("queueTable");
    setAccessibleName(tr("The queue"));
    setModel(model);
    setItemDelegate(new QueueCellDelegate(selection, this));
    connect(selection, &TrialSelection::pinnedChanged, viewport(), qOverload<>(&QWidget::update));
    setSelectionBehavior(SelectRows);
    setSelectionMode(ExtendedSelection);
    setEditTriggers(NoEditTriggers);
    setShowGrid(false);
    setAlternatingRowColors(true);
    setWordWrap(false);
    setTabKeyNavigation(false);
    setHorizontalScrollMode(ScrollPerPixel);
    setContextMenuPolicy(Qt::CustomContextMenu);
    setDragEnabled(true);
    setAcceptDrops(true);
    setDragDropMode(InternalMove);
    setDefaultDropAction(Qt::MoveAction);
    setDragDropOverwriteMode(false);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 14);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setStretchLastSection(true);
    for (int column = 0; column < QueueTableModel::ColumnCount; ++column)
        setColumnWidth(column, kWidths[static_cast<std::size_t>(column)]);
    horizontalHeader()->moveSection(QueueTableModel::TitleColumn, QueueTableModel::StateColumn + 1);
}

ChosenTrials QueueTable::chosen() const {
    ChosenTrials trials;
    for (const QModelIndex& each : selectionModel()->selectedRows()) trials.insert(m_model.trialAt(each.row()));
    return trials;
}

void QueueTable::choose(std::int64_t trial) {
    for (int row = 0; row < m_model.rowCount(); ++row) {
        if (m_model.trialAt(row) != trial) continue;
        const QModelIndex at = m_model.index(row, std::max(0, currentIndex().column()));
        selectionModel()->setCurrentIndex(at, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    }
}

// A table that is entered by the keyboard has a trial to act on.
void QueueTable::focusInEvent(QFocusEvent* event) {
    QTableView::focusInEvent(event);
    if (event->reason() == Qt::MouseFocusReason || selectionModel()->hasSelection() || m_model.rowCount() == 0) return;
    choose(m_model.trialAt(std::max(0, currentIndex().row())));
}

// Qt marks the cell below the pointer; a whole row moves.
void QueueTable::paintEvent(QPaintEvent* event) {
    QTableView::paintEvent(event);
    if (!m_dropLine) return;
    QPainter painter(viewport());
    painter.setPen(QPen(currentTheme().accent, 2));
    painter.drawLine(0, *m_dropLine, viewport()->width(), *m_dropLine);
}

void QueueTable::dragMoveEvent(QDragMoveEvent* event) {
    QTableView::dragMoveEvent(event);
    showDropLine(event->isAccepted() ? std::optional(lineNear(event->position().toPoint())) : std::nullopt);
}

void QueueTable::dragLeaveEvent(QDragLeaveEvent* event) {
    QTableView::dragLeaveEvent(event);
    showDropLine(std::nullopt);
}

void QueueTable::dropEvent(QDropEvent* event) {
    QTableView::dropEvent(event);
    showDropLine(std::nullopt);
}

void QueueTable::showDropLine(std::optional<int> y) {
    m_dropLine = y;
    viewport()->update();
}

int QueueTable::lineNear(const QPoint& at) const {
    const int row = rowAt(at.y());
    if (row < 0) return m_model.rowCount() == 0 ? 0 : rowViewportPosition(m_model.rowCount() - 1) + rowHeight(0);
    const int top = rowViewportPosition(row), height = rowHeight(row);
    return at.y() < top + height / 2 ? top : top + height;
}

}  // namespace lockstep::ui
