#pragma once
#include "ui/timeline/imgui_surface.h"
#include "ui/timeline/timeline_state.h"

namespace lockstep::ui {

// Draws a state and passes mouse, wheel and keys to it: wheel zooms at the cursor, dragging pans, Shift and dragging
// selects, a double click shows one step, keys as TimelineState::press.
class TimelineCanvas : public ImguiSurface {
    Q_OBJECT
public:
    explicit TimelineCanvas(TimelineState& state, QWidget* parent = nullptr);
    std::size_t drawnRects() const { return m_drawnRects; }  // of the last frame

signals:
    void navigated();  // viewport or selection changed by the user

protected:
    void buildFrame() override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    enum class Drag { None, Pressed, Pan, Select };
    void dragTo(const QPointF& at);
    std::optional<TimelineModel::Hit> hovered(const TimelineScene& scene) const;
    std::int64_t timeAt(const QPointF& at) const;
    void changed();

    TimelineState& m_state;
    Drag m_drag = Drag::None;
    bool m_selects = false;  // the button went down with Shift
    QPointF m_pressedAt, m_draggedTo;
    std::optional<QPointF> m_mouse;
    std::size_t m_drawnRects = 0;
};

}  // namespace lockstep::ui
