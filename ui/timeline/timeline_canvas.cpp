#include "ui/timeline/timeline_canvas.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <cmath>

#include "ui/timeline/timeline_painter.h"
#include "ui/timeline/timeline_text.h"

namespace lockstep::ui {

namespace {

constexpr double kZoomOfNotch = 0.8, kPanOfNotch = 60;

}  // namespace

TimelineCanvas::TimelineCanvas(TimelineState& state, QWidget* parent) : ImguiSurface(parent), m_state(state) {
    setAccessibleName(tr("Timeline"));
    setMinimumHeight(160);
}

void TimelineCanvas::changed() {
    update();
    emit navigated();
}

std::int64_t TimelineCanvas::timeAt(const QPointF& at) const {
    return m_state.viewport.timeAt(at.x() - TimelineScene::kGutter);
}

std::optional<TimelineModel::Hit> TimelineCanvas::hovered(const TimelineScene& scene) const {
    const bool drags = m_drag == Drag::Pan || m_drag == Drag::Select;
    if (!m_mouse || drags || m_mouse->x() < TimelineScene::kGutter) return std::nullopt;
    const TimelineModel::Lane* lane = scene.laneAt(m_mouse->y());
    return lane ? m_state.model.hit(*lane, timeAt(*m_mouse), m_state.viewport.pixel()) : std::nullopt;
}

void TimelineCanvas::buildFrame() {
    const TimelineScene scene = layOut(m_state.model, m_state.viewport, height(), m_state.scroll);
    m_drawnRects = scene.rects.size();
    const auto hit = hovered(scene);
    TimelinePainter(m_state, scene, width(), height()).paint(hit, hasFocus());
    if (hit) showTooltip(hitText(m_state.model, *hit));
}

void TimelineCanvas::resizeEvent(QResizeEvent* event) {
    m_state.resize(width(), height());
    ImguiSurface::resizeEvent(event);
    emit navigated();
}

void TimelineCanvas::mousePressEvent(QMouseEvent* event) {
    ImguiSurface::mousePressEvent(event);
    if (event->button() != Qt::LeftButton) return;
    m_drag = Drag::Pressed;
    m_selects = event->modifiers() & Qt::ShiftModifier;
    m_pressedAt = m_draggedTo = event->position();
}

void TimelineCanvas::mouseMoveEvent(QMouseEvent* event) {
    m_mouse = event->position();
    ImguiSurface::mouseMoveEvent(event);
    const double moved = (event->position() - m_pressedAt).manhattanLength();
    if (m_drag == Drag::Pressed && moved >= QApplication::startDragDistance()) {
        m_drag = m_selects ? Drag::Select : Drag::Pan;
        setCursor(m_selects ? Qt::IBeamCursor : Qt::ClosedHandCursor);
    }
    if (m_drag == Drag::Pan || m_drag == Drag::Select) dragTo(event->position());
}

void TimelineCanvas::dragTo(const QPointF& at) {
    if (m_drag == Drag::Select) {
        m_state.select(timeAt(m_pressedAt), timeAt(at));
    } else {
        m_state.viewport.panBy(m_draggedTo.x() - at.x());
        m_state.scrollBy(m_draggedTo.y() - at.y());
    }
    m_draggedTo = at;
    changed();
}

void TimelineCanvas::mouseReleaseEvent(QMouseEvent* event) {
    ImguiSurface::mouseReleaseEvent(event);
    if (event->button() != Qt::LeftButton) return;
    if (m_drag == Drag::Pressed && m_state.selection) {
        m_state.selection.reset();
        changed();
    }
    m_drag = Drag::None;
    unsetCursor();
}

void TimelineCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
    ImguiSurface::mouseDoubleClickEvent(event);
    if (event->button() != Qt::LeftButton || event->position().x() < TimelineScene::kGutter) return;
    m_state.zoomToStep(timeAt(event->position()));
    changed();
}

// The names scroll, the times zoom; sideways wheels (and Alt) pan.
void TimelineCanvas::wheelEvent(QWheelEvent* event) {
    ImguiSurface::wheelEvent(event);
    if (m_state.model.empty()) return;
    const double x = event->position().x() - TimelineScene::kGutter;
    const double across = event->angleDelta().x() / 120.0, along = event->angleDelta().y() / 120.0;
    const bool sideways = event->modifiers() & Qt::ShiftModifier;
    if (across != 0 || sideways) m_state.viewport.panBy(-(sideways ? across + along : across) * kPanOfNotch);
    else if (x < 0) m_state.scrollBy(-along * kPanOfNotch);
    else m_state.viewport.zoomAt(x, std::pow(kZoomOfNotch, along));
    changed();
}

void TimelineCanvas::keyPressEvent(QKeyEvent* event) {
    const bool plain = !(event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier));
    if (plain && m_state.press(event->key())) {
        event->accept();
        changed();
        return;
    }
    ImguiSurface::keyPressEvent(event);
}

void TimelineCanvas::leaveEvent(QEvent* event) {
    m_mouse.reset();
    ImguiSurface::leaveEvent(event);
}

}  // namespace lockstep::ui
