#pragma once
#include <QOpenGLWidget>

struct ImGuiContext;

namespace lockstep::ui {

struct Theme;

// A widget whose picture Dear ImGui draws, with a context of its own, this application's font at the screen's
// resolution and the theme's colours. Draws only after an event or update(): no loop. All functions: the window's
// thread.
class ImguiSurface : public QOpenGLWidget {
    Q_OBJECT
public:
    // Why no such widget can work here, in words; empty: it can. Such a widget must not be made otherwise: it would
    // keep its whole window from appearing.
    static QString obstacle();

    explicit ImguiSurface(QWidget* parent = nullptr);
    ~ImguiSurface() override;

protected:
    virtual void buildFrame() = 0;  // ImGui calls; coordinates are the widget's

    void initializeGL() override;
    void paintGL() override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    void frameAfterEvent();
    void releaseRenderer();
    void beginFrame();
    void passButton(const QMouseEvent& event, bool down);
    void passModifiers(Qt::KeyboardModifiers modifiers);
    void passKey(const QKeyEvent& event, bool down);

    ImGuiContext* m_context = nullptr;
    bool m_rendererReady = false;
    int m_framesToSettle = 0;  // ImGui's own widgets show an event's outcome one frame later
    double m_fontScale = 0;    // device pixels per pixel for which the font was drawn; 0: not yet
    qint64 m_lastFrame = 0;
};

}  // namespace lockstep::ui
