#include "ui/evaluate/confusion_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/evaluate/cell_color.h"
#include "ui/plot/run_text.h"
#include "ui/style/contrast.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kLeastSide = 4, kMostSide = 56, kLargestSide = 80, kMostName = 110;

}  // namespace

ConfusionView::ConfusionView(QWidget* parent) : QAbstractScrollArea(parent) {
    setObjectName("confusionMatrix");
    setAccessibleName(tr("Confusion matrix: a row for each class, a column for each answer"));
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setMouseTracking(true);
}

void ConfusionView::setMatrix(std::optional<ConfusionMatrix> matrix, QStringList classes) {
    m_matrix = std::move(matrix);
    m_classes = std::move(classes);
    m_ofClass.clear();
    for (std::int64_t id = 0; m_matrix && id < m_matrix->classes(); ++id) m_ofClass.push_back(m_matrix->ofClass(id));
    if (m_chosen && (!m_matrix || std::max(m_chosen->label, m_chosen->answer) >= m_matrix->classes())) m_chosen.reset();
    m_hovered.reset();
    arrange();
}

void ConfusionView::setOrder(ClassOrder order, std::size_t most) {
    m_order = order;
    m_most = most;
    arrange();
}

void ConfusionView::setShares(bool shares) {
    m_shares = shares;
    viewport()->update();
}

void ConfusionView::choose(std::optional<Cell> cell) {
    m_chosen = cell;
    if (cell && m_matrix) setAccessibleDescription(toldOf(*cell));
    tell();
    viewport()->update();
}

void ConfusionView::hover(std::optional<Cell> cell) {
    if (std::exchange(m_hovered, cell) == cell) return;
    tell();
    viewport()->update();
}

QString ConfusionView::told() const {
    if (!m_matrix) return {};
    const auto& cell = m_hovered ? m_hovered : m_chosen;
    if (cell) return toldOf(*cell);
    return hasRoomForNames() ? QString() : tr("Point at a cell to see its classes; Ctrl and the wheel make it larger.");
}

void ConfusionView::tell() {
    if (const QString now = told(); std::exchange(m_told, now) != now) emit toldChanged(now);
}

bool ConfusionView::hasRoomForNames() const { return m_side >= fontMetrics().height() - 2; }

void ConfusionView::resetZoom() {
    m_zoom = 1;
    horizontalScrollBar()->setValue(0);
    verticalScrollBar()->setValue(0);
}

QString ConfusionView::className(std::int64_t id) const {
    return id >= 0 && id < m_classes.size() ? m_classes[static_cast<int>(id)] : QString::number(id);
}

void ConfusionView::arrange() {
    const std::size_t before = m_shown.size();
    m_shown = m_matrix ? classesInOrder(*m_matrix, m_order, m_most) : std::vector<std::int64_t>();
    if (m_shown.size() != before) resetZoom();
    const auto metrics = fontMetrics();
    int name = 0;
    for (const std::int64_t id : m_shown) name = std::max(name, metrics.horizontalAdvance(className(id)));
    name = std::min(name, kMostName) + space::kMedium;
    m_left = name + metrics.height();
    m_top = name + metrics.height();
    const int room = std::min(viewport()->width() - m_left, viewport()->height() - m_top) - 1;
    const int fit = std::clamp(room / std::max(count(), 1), kLeastSide, kMostSide);
    m_side = std::clamp(static_cast<int>(std::lround(fit * m_zoom)), kLeastSide, kLargestSide);
    const int all = m_side * count() + 1;
    horizontalScrollBar()->setRange(0, std::max(0, all + m_left - viewport()->width()));
    horizontalScrollBar()->setPageStep(viewport()->width() - m_left);
    verticalScrollBar()->setRange(0, std::max(0, all + m_top - viewport()->height()));
    verticalScrollBar()->setPageStep(viewport()->height() - m_top);
    tell();
    viewport()->update();
}

int ConfusionView::place(std::int64_t id) const {
    const auto found = std::ranges::find(m_shown, id);
    return found == m_shown.end() ? -1 : static_cast<int>(found - m_shown.begin());
}

QRect ConfusionView::rectOf(const Cell& cell) const {
    const int row = place(cell.label), column = place(cell.answer);
    return row < 0 || column < 0 ? QRect() : rectAt(row, column);
}

QRect ConfusionView::rectAt(int row, int column) const {
    return {m_left + column * m_side - horizontalScrollBar()->value(),
            m_top + row * m_side - verticalScrollBar()->value(), m_side, m_side};
}

std::optional<ConfusionView::Cell> ConfusionView::cellAt(const QPoint& at) const {
    if (at.x() < m_left || at.y() < m_top) return std::nullopt;
    const int column = (at.x() - m_left + horizontalScrollBar()->value()) / m_side;
    const int row = (at.y() - m_top + verticalScrollBar()->value()) / m_side;
    if (column >= count() || row >= count()) return std::nullopt;
    return Cell{m_shown[static_cast<std::size_t>(row)], m_shown[static_cast<std::size_t>(column)]};
}

double ConfusionView::shareOf(const Cell& cell) const {
    const auto all = m_ofClass[static_cast<std::size_t>(cell.label)];
    return all > 0 ? static_cast<double>(m_matrix->at(cell.label, cell.answer)) / static_cast<double>(all) : 0;
}

QString ConfusionView::textOf(const Cell& cell) const {
    const std::int64_t here = m_matrix->at(cell.label, cell.answer);
    if (here == 0) return {};
    return m_shares ? QString::number(100 * shareOf(cell), 'f', 1) : runCount(static_cast<double>(here));
}

QString ConfusionView::toldOf(const Cell& cell) const {
    const QString count = runCount(static_cast<double>(m_matrix->at(cell.label, cell.answer)));
    const QString all = runCount(static_cast<double>(m_ofClass[static_cast<std::size_t>(cell.label)]));
    const QString share = runPercent(shareOf(cell));
    if (cell.label == cell.answer)
        return tr("%1: %2 of %3 samples are right (%4)").arg(className(cell.label), count, all, share);
    return tr("%1 taken for %2: %3 of %4 samples (%5)")
        .arg(className(cell.label), className(cell.answer), count, all, share);
}

void ConfusionView::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    const auto& theme = currentTheme();
    if (!m_matrix) return;
    painter.save();
    painter.setClipRect(QRect(m_left, m_top, viewport()->width(), viewport()->height()));
    paintCells(painter);
    painter.restore();
    paintNames(painter);
    painter.setPen(theme.muted);
    painter.drawText(QRect(m_left, 0, viewport()->width() - m_left, fontMetrics().height()), Qt::AlignLeft,
                     tr("taken for"));
    painter.save();
    painter.translate(0, m_top);
    painter.rotate(-90);
    painter.drawText(
        QRect(-std::max(0, viewport()->height() - m_top), 0, viewport()->height() - m_top, fontMetrics().height()),
        Qt::AlignRight, tr("class"));
    painter.restore();
}

void ConfusionView::paintCells(QPainter& painter) {
    const auto& theme = currentTheme();
    const int font = fontMetrics().height();
    const auto visible = [this](int scrolled, int room) {
        const int first = scrolled / m_side;
        return std::pair(first, std::min(count(), first + room / m_side + 2));
    };
    const auto [firstRow, endRow] = visible(verticalScrollBar()->value(), viewport()->height());
    const auto [firstColumn, endColumn] = visible(horizontalScrollBar()->value(), viewport()->width());
    for (int row = firstRow; row < endRow; ++row) {
        for (int column = firstColumn; column < endColumn; ++column) {
            const Cell cell{m_shown[static_cast<std::size_t>(row)], m_shown[static_cast<std::size_t>(column)]};
            const QRect rect = rectAt(row, column);
            const QColor ground = cellColor(cell.label == cell.answer, shareOf(cell), theme);
            if (m_side > 8) painter.fillRect(rect, theme.grid);
            painter.fillRect(m_side > 8 ? rect.adjusted(1, 1, 0, 0) : rect, ground);
            const QString text = m_side >= font ? textOf(cell) : QString();
            if (text.isEmpty() || fontMetrics().horizontalAdvance(text) + 2 > m_side) continue;
            painter.setPen(readableOn(ground, theme.text));
            painter.drawText(rect, Qt::AlignCenter, text);
        }
    }
    const auto outline = [&](const std::optional<Cell>& cell, const QColor& color, int width) {
        if (!cell || rectOf(*cell).isNull()) return;
        painter.setPen(QPen(color, width));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rectOf(*cell));
    };
    outline(m_hovered, theme.muted, 1);
    outline(m_chosen, theme.accent, 2);
}

// All of them where there is room for a line each, else those of the cell under the pointer and of the chosen one.
void ConfusionView::paintNames(QPainter& painter) {
    const auto& theme = currentTheme();
    const auto metrics = fontMetrics();
    const bool all = hasRoomForNames();
    const auto strong = [&](std::int64_t id, bool row) {
        const auto is = [&](const std::optional<Cell>& cell) {
            return cell && (row ? cell->label : cell->answer) == id;
        };
        return is(m_hovered) || is(m_chosen);
    };
    const int width = m_left - metrics.height() - space::kSmall;
    for (int i = 0; i < count(); ++i) {
        const std::int64_t id = m_shown[static_cast<std::size_t>(i)];
        const QRect rect = rectAt(i, i);
        if (!all && !strong(id, true) && !strong(id, false)) continue;
        const QString name = metrics.elidedText(className(id), Qt::ElideRight, width);
        if ((all || strong(id, true)) && rect.bottom() > m_top && rect.center().y() >= m_top) {
            painter.setPen(strong(id, true) ? theme.text : theme.muted);
            const QRect line(metrics.height(), rect.center().y() - metrics.height() / 2, width, metrics.height());
            painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, name);
        }
        if ((!all && !strong(id, false)) || rect.center().x() < m_left) continue;
        painter.save();
        painter.setPen(strong(id, false) ? theme.text : theme.muted);
        painter.translate(rect.center().x() - metrics.height() / 2, m_top - space::kSmall);
        painter.rotate(-90);
        painter.drawText(QRect(0, 0, width, metrics.height()), Qt::AlignLeft | Qt::AlignVCenter, name);
        painter.restore();
    }
}

void ConfusionView::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    arrange();
}

void ConfusionView::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) arrange();
}

void ConfusionView::mousePressEvent(QMouseEvent* event) {
    const auto cell = cellAt(event->pos());
    if (!cell || event->button() != Qt::LeftButton) return;
    choose(cell);
    emit cellChosen(cell->label, cell->answer);
}

void ConfusionView::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    const QPoint by(key == Qt::Key_Right  ? 1
                    : key == Qt::Key_Left ? -1
                                          : 0,
                    key == Qt::Key_Down ? 1
                    : key == Qt::Key_Up ? -1
                                        : 0);
    if (by.isNull() || m_shown.empty()) return QAbstractScrollArea::keyPressEvent(event);
    const auto moved = [&](std::int64_t from, int step) {
        return m_shown[static_cast<std::size_t>(std::clamp(place(from) + step, 0, count() - 1))];
    };
    const bool begins = !m_chosen || place(m_chosen->label) < 0 || place(m_chosen->answer) < 0;
    const Cell next = begins ? Cell{m_shown.front(), m_shown.front()}
                             : Cell{moved(m_chosen->label, by.y()), moved(m_chosen->answer, by.x())};
    choose(next);
    const QRect rect = rectOf(next);
    if (rect.left() < m_left) horizontalScrollBar()->setValue(horizontalScrollBar()->value() - m_left + rect.left());
    if (rect.right() > viewport()->width())
        horizontalScrollBar()->setValue(horizontalScrollBar()->value() + rect.right() - viewport()->width());
    if (rect.top() < m_top) verticalScrollBar()->setValue(verticalScrollBar()->value() - m_top + rect.top());
    if (rect.bottom() > viewport()->height())
        verticalScrollBar()->setValue(verticalScrollBar()->value() + rect.bottom() - viewport()->height());
    emit cellChosen(next.label, next.answer);
}

void ConfusionView::wheelEvent(QWheelEvent* event) {
    if (!event->modifiers().testFlag(Qt::ControlModifier)) return QAbstractScrollArea::wheelEvent(event);
    m_zoom = std::clamp(m_zoom * (event->angleDelta().y() > 0 ? 1.25 : 0.8), 1.0, 20.0);
    arrange();
    event->accept();
}

bool ConfusionView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::MouseMove || event->type() == QEvent::Leave) {
        hover(event->type() == QEvent::Leave ? std::nullopt
                                             : cellAt(static_cast<QMouseEvent*>(event)->position().toPoint()));
    }
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const auto cell = cellAt(help->pos());
        if (cell) QToolTip::showText(help->globalPos(), toldOf(*cell), this, rectOf(*cell));
        else QToolTip::hideText();
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace lockstep::ui
