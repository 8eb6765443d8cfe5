#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>

#include "ui/compare/parallel_painter.h"
#include "ui/compare/parallel_view.h"

// What a person does with the axes and lines.
namespace lockstep::ui {

namespace {

constexpr double kLineReach = 6, kGripReach = 5, kBegins = 3;  // pixels
constexpr double kOff = 24;                                    // beyond the view: an axis there is put away

}  // namespace

// The nearest of the lines that pass; of equally near ones the better.
std::optional<std::size_t> ParallelView::rowAt(QPointF at) const {
    const ParallelLayout& layout = m_plot.layout;
    if (m_plot.axes.size() < 2 || !layout.lines().contains(at)) return std::nullopt;
    const auto right = std::clamp<std::ptrdiff_t>(std::ranges::upper_bound(layout.x, at.x()) - layout.x.begin(), 1,
                                                  std::ssize(layout.x) - 1);
    const auto after = static_cast<std::size_t>(right), before = after - 1;
    const double width = layout.x[after] - layout.x[before], part = (at.x() - layout.x[before]) / width;
    const auto &from = m_plot.axes[before].places(), &to = m_plot.axes[after].places();
    std::optional<std::size_t> nearest;
    double least = kLineReach;
    for (auto row = m_plot.drawOrder.rbegin(); row != m_plot.drawOrder.rend(); ++row) {
        if (!scene()->passes[*row]) continue;
        const double begin = layout.y(from[*row]), end = layout.y(to[*row]);
        const double away = std::abs(begin + part * (end - begin) - at.y()) * width / std::hypot(width, end - begin);
        if (away < least) least = away, nearest = *row;
    }
    return nearest;
}

BrushHit ParallelView::brushHitAt(std::size_t axis, QPointF at) const {
    const ParallelAxis& of = m_plot.axes[axis];
    std::vector<AxisPiece> pieces = of.pieces(brushOf(axis));
    for (AxisPiece& piece : pieces) piece = m_plot.layout.seen(of, piece);
    return brushAt(pieces, m_plot.layout.placeAt(at.y()), kGripReach / m_plot.layout.plot.height());
}

QString ParallelView::axisTip(std::size_t at) const {
    const CompareAxis& axis = m_plot.axes[at].axis();
    QStringList lines{axis.name};
    if (axis.isSetting) lines << QString::fromStdString(axis.key);
    if (axis.isLog) lines << tr("On a logarithmic scale");
    lines << tr("Click: turn it over. Drag: move it; out of the plot: put it away.")
          << tr("Keys: left and right go from axis to axis, with Ctrl they move it; Shift with up and down brushes.");
    return lines.join('\n');
}

void ParallelView::showTarget(QPointF at) {
    const ParallelTarget target = targetAt(m_plot.layout, m_plot.axes, at);
    const auto row =
        target.kind == ParallelTarget::Nothing || target.kind == ParallelTarget::Axis ? rowAt(at) : std::nullopt;
    hover(row);
    Qt::CursorShape shape = row ? Qt::PointingHandCursor : Qt::ArrowCursor;
    if (target.kind == ParallelTarget::Title || target.kind == ParallelTarget::Slot) shape = Qt::PointingHandCursor;
    if (target.kind == ParallelTarget::Axis) {
        const BrushGrip grip = brushHitAt(target.axis, at).grip;
        shape = grip == BrushGrip::New     ? Qt::CrossCursor
                : grip == BrushGrip::Whole ? Qt::OpenHandCursor
                                           : Qt::SizeVerCursor;
    }
    setCursor(shape);
    if (target.kind == ParallelTarget::Title) return setToolTip(axisTip(target.axis));
    if (!row) return setToolTip({});
    const ComparedTrial& trial = scene()->table->trials[*row];
    QStringList lines{trial.name, trial.words};
    if (const auto objective = scene()->table->objective)
        lines << tr("%1: %2").arg(scene()->table->axes[*objective].name, scene()->table->axes[*objective].cell(*row));
    if (trial.isCutShort) lines << tr("Ended after epoch %1 of %2").arg(trial.epoch).arg(trial.epochs);
    if (!trial.failure.isEmpty()) lines << trial.failure;
    setToolTip(lines.join('\n'));
}

void ParallelView::mouseMoveEvent(QMouseEvent* event) {
    if (!scene() || m_plot.axes.empty()) return;
    if (!m_press) return showTarget(event->position());
    const QPointF way = event->position() - m_press->at;
    if (!isDragging() && std::hypot(way.x(), way.y()) >= kBegins) beginDrag();
    if (isDragging()) drag(event->position());
}

void ParallelView::mousePressEvent(QMouseEvent* event) {
    if (!scene() || m_plot.axes.empty() || event->button() != Qt::LeftButton) return;
    const ParallelTarget target = targetAt(m_plot.layout, m_plot.axes, event->position());
    m_press = Press{event->position(), target, rowAt(event->position())};
    if (target.kind != ParallelTarget::Nothing) m_focused = target.axis;
}

void ParallelView::beginDrag() {
    hover(std::nullopt);
    setToolTip({});
    const ParallelTarget& target = m_press->target;
    if (target.axis >= m_plot.axes.size()) return;  // it has gone meanwhile
    const ParallelAxis& axis = m_plot.axes[target.axis];
    if (target.kind == ParallelTarget::Axis) {
        m_brushed = axis.axis().key;
        m_brushScene = scene();
        m_brush.emplace(axis, brushOf(target.axis), brushHitAt(target.axis, m_press->at),
                        m_plot.layout.placeAt(m_press->at.y()));
    } else if (target.kind == ParallelTarget::Title) {
        m_moved = axis.index();
        m_orderBefore = order();
        setCursor(Qt::ClosedHandCursor);
    }
}

void ParallelView::drag(QPointF at) {
    if (m_brush) return selection().dragBrush(m_brushed, m_brush->to(m_plot.layout.placeAt(at.y())));
    dragAxis(at);
}

// It follows the pointer; the others make way.
void ParallelView::dragAxis(QPointF at) {
    const ParallelLayout& layout = m_plot.layout;
    m_movedTo = {std::clamp(at.x(), layout.plot.left(), layout.plot.right()), at.y()};
    const double place = (m_movedTo.x() - layout.plot.left()) / std::max(layout.gap(), 1.0);
    const auto to = static_cast<std::size_t>(std::lround(place));
    becomeOrder(selection().scope(), m_plot.axes[to].index() == *m_moved ? order() : withMovedTo(*m_moved, to));
}

void ParallelView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !m_press) return;
    const Press press = *std::exchange(m_press, std::nullopt);
    if (isDragging()) endDrag(event->position());
    else if (scene()) click(press);
}

void ParallelView::endDrag(QPointF at) {
    if (m_brush) {
        const BrushDrag brush = *std::exchange(m_brush, std::nullopt);
        selection().brush(m_brushed, merged(brush.to(m_plot.layout.placeAt(at.y()))));
        m_brushScene.reset();
        return;
    }
    const std::size_t axis = *std::exchange(m_moved, std::nullopt);
    const bool isOff = !QRectF(rect()).adjusted(-kOff, -kOff, kOff, kOff).contains(at) && m_plot.axes.size() > 2;
    const AxisOrder after = isOff ? withShown(*scene(), m_orderBefore, axis, false) : order();
    becomeOrder(selection().scope(), m_orderBefore);
    setOrder(after, isOff ? tr("put an axis away") : tr("move an axis"));
    showTarget(at);
}

void ParallelView::dropDrag() {
    m_press.reset();
    if (std::exchange(m_brush, std::nullopt)) selection().dropDrag();
    if (std::exchange(m_moved, std::nullopt)) becomeOrder(selection().scope(), m_orderBefore);
}

void ParallelView::setBrush(std::size_t axis, const AxisBrush& brush) {
    selection().brush(m_plot.axes[axis].axis().key, brush);
}

void ParallelView::click(const Press& press) {
    const ParallelTarget& target = press.target;
    if (target.kind == ParallelTarget::Nothing) {
        if (press.row && *press.row < scene()->table->trials.size()) togglePin(*press.row);
        return;
    }
    if (target.axis >= m_plot.axes.size()) return;
    if (target.kind == ParallelTarget::Slot) setBrush(target.axis, toggled(brushOf(target.axis), target.absence));
    else if (target.kind == ParallelTarget::Axis) clickAxis(target.axis, press.at);
    else setOrder(withFlipped(order(), m_plot.axes[target.axis].axis().key), tr("turn an axis over"));
}

// On a brush takes it off, on the name of a choice puts one on.
void ParallelView::clickAxis(std::size_t at, QPointF where) {
    const ParallelAxis& axis = m_plot.axes[at];
    const BrushHit hit = brushHitAt(at, where);
    if (hit.piece && hit.grip == BrushGrip::Whole && !axis.axis().isChoice())
        return setBrush(at, withoutPiece(axis, brushOf(at), *hit.piece));
    if (!axis.axis().isChoice()) return;
    const double place = m_plot.layout.placeAt(where.y());
    for (const auto& stop : axis.stops()) {
        const AxisPiece seen = m_plot.layout.seen(axis, {stop.place, stop.place});
        if (seen.low <= place && place <= seen.high) setBrush(at, toggled(brushOf(at), axis.choiceAt(stop.value)));
    }
}

void ParallelView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (!scene() || m_plot.axes.empty()) return;
    if (targetAt(m_plot.layout, m_plot.axes, event->position()).kind != ParallelTarget::Nothing)
        return mousePressEvent(event);  // two clicks, as on a slot
    if (const auto row = rowAt(event->position())) openClicked(*row);
}

void ParallelView::contextMenuEvent(QContextMenuEvent* event) {
    if (!scene() || m_plot.axes.empty() || isDragging()) return;
    const bool isByKey = event->reason() == QContextMenuEvent::Keyboard;
    const ParallelTarget target = targetAt(m_plot.layout, m_plot.axes, event->pos());
    QMenu menu(this);
    if (isByKey) fillAxisMenu(menu, m_focused);
    else if (target.kind == ParallelTarget::Nothing) fillAxesMenu(menu);
    else fillAxisMenu(menu, target.axis);
    menu.exec(isByKey ? mapToGlobal(m_plot.layout.titleRoom(m_focused).bottomLeft().toPoint()) : event->globalPos());
}

// Left and right go from axis to axis, with Ctrl they take the axis along.
bool ParallelView::stepAxes(QKeyEvent& event) {
    const bool isRight = event.key() == Qt::Key_Right;
    const std::size_t axis = m_plot.axes[m_focused].index();
    const bool isEnd = isRight ? m_focused + 1 >= m_plot.axes.size() : m_focused == 0;
    switch (event.key()) {
        case Qt::Key_Left:
        case Qt::Key_Right:
            if (isEnd) return true;
            isRight ? ++m_focused : --m_focused;
            if (event.modifiers() & Qt::ControlModifier) setOrder(withMovedTo(axis, m_focused), tr("move an axis"));
            update();
            return true;
        case Qt::Key_F:
            setOrder(withFlipped(order(), m_plot.axes[m_focused].axis().key), tr("turn an axis over"));
            return true;
        case Qt::Key_Delete:
            if (m_plot.axes.size() > 2) setOrder(withShown(*scene(), order(), axis, false), tr("put an axis away"));
            return true;
        default: return false;
    }
}

// With Shift the brush of the axis grows from its head; else up and down go through the trials that are coloured, the
// best first.
bool ParallelView::stepTrials(QKeyEvent& event) {
    const auto row = hoveredRow();
    switch (event.key()) {
        case Qt::Key_Up:
        case Qt::Key_Down: break;
        case Qt::Key_Space:
            if (row) togglePin(*row);
            return true;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (row) emit openWanted(scene()->table->trials[*row].trial);
            return true;
        default: return false;
    }
    const bool isUp = event.key() == Qt::Key_Up;
    if (event.modifiers() & Qt::ShiftModifier) {
        growBrush(isUp ? -1 : 1);
        return true;
    }
    const auto rows = coloured(m_plot);
    if (rows.empty()) return true;
    auto at = row ? std::ranges::find(rows, static_cast<std::uint32_t>(*row)) - rows.begin() : std::ssize(rows);
    if (at == std::ssize(rows)) at = isUp ? -1 : std::ssize(rows);
    at = std::clamp<std::ptrdiff_t>(at + (isUp ? 1 : -1), 0, std::ssize(rows) - 1);
    hover(rows[static_cast<std::size_t>(at)]);
    return true;
}

// By one stop; back to nothing.
void ParallelView::growBrush(int by) {
    const ParallelAxis& axis = m_plot.axes[m_focused];
    const auto stops = axis.stops();
    const AxisBrush before = brushOf(m_focused);
    double foot = 2;
    for (const AxisPiece& piece : axis.pieces(before)) foot = std::min(foot, piece.low - 1e-6);
    const auto covered = std::ranges::count_if(stops, [&](const auto& stop) { return stop.place >= foot; });
    const auto wanted = std::clamp<std::ptrdiff_t>(covered + by, 0, std::ssize(stops));
    AxisBrush brush{.without = before.without};
    if (wanted > 0)
        brush = BrushDrag(axis, brush, {}, stops[stops.size() - static_cast<std::size_t>(wanted)].place)
                    .to(stops.back().place);
    setBrush(m_focused, brush);
}

void ParallelView::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && isDragging()) return dropDrag();
    const bool isUsed = scene() && !m_plot.axes.empty() && (stepAxes(*event) || stepTrials(*event));
    if (!isUsed) CompareView::keyPressEvent(event);
}

}  // namespace lockstep::ui
