#include "ui/timeline/imgui_surface.h"

#include <imgui.h>
// after imgui.h, whose folder it takes for granted
#include <backends/imgui_impl_opengl3.h>

#include <QDateTime>
#include <QEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QOffscreenSurface>
#include <QOpenGLContext>
#include <QWheelEvent>
#include <algorithm>
#include <array>
#include <cfloat>
#include <utility>

#include "ui/style/theme.h"
#include "ui/timeline/imgui_font.h"

namespace lockstep::ui {

namespace {

constexpr std::array kKeys{std::pair{Qt::Key_Tab, ImGuiKey_Tab},
                           std::pair{Qt::Key_Left, ImGuiKey_LeftArrow},
                           std::pair{Qt::Key_Right, ImGuiKey_RightArrow},
                           std::pair{Qt::Key_Up, ImGuiKey_UpArrow},
                           std::pair{Qt::Key_Down, ImGuiKey_DownArrow},
                           std::pair{Qt::Key_PageUp, ImGuiKey_PageUp},
                           std::pair{Qt::Key_PageDown, ImGuiKey_PageDown},
                           std::pair{Qt::Key_Home, ImGuiKey_Home},
                           std::pair{Qt::Key_End, ImGuiKey_End},
                           std::pair{Qt::Key_Insert, ImGuiKey_Insert},
                           std::pair{Qt::Key_Delete, ImGuiKey_Delete},
                           std::pair{Qt::Key_Backspace, ImGuiKey_Backspace},
                           std::pair{Qt::Key_Space, ImGuiKey_Space},
                           std::pair{Qt::Key_Return, ImGuiKey_Enter},
                           std::pair{Qt::Key_Escape, ImGuiKey_Escape},
                           std::pair{Qt::Key_A, ImGuiKey_A},
                           std::pair{Qt::Key_C, ImGuiKey_C},
                           std::pair{Qt::Key_V, ImGuiKey_V},
                           std::pair{Qt::Key_X, ImGuiKey_X},
                           std::pair{Qt::Key_Y, ImGuiKey_Y},
                           std::pair{Qt::Key_Z, ImGuiKey_Z}};

ImVec4 colorOf(const QColor& color) {
    return {static_cast<float>(color.redF()), static_cast<float>(color.greenF()), static_cast<float>(color.blueF()), 1};
}

void applyColors(const Theme& theme) {
    ImGuiStyle& style = ImGui::GetStyle();
    theme.dark ? ImGui::StyleColorsDark(&style) : ImGui::StyleColorsLight(&style);
    style.Colors[ImGuiCol_Text] = colorOf(theme.text);
    style.Colors[ImGuiCol_TextDisabled] = colorOf(theme.muted);
    style.Colors[ImGuiCol_WindowBg] = colorOf(theme.surface);
    style.Colors[ImGuiCol_PopupBg] = colorOf(theme.raised);
    style.Colors[ImGuiCol_Border] = colorOf(theme.border);
    style.WindowPadding = {static_cast<float>(space::kMedium), static_cast<float>(space::kMedium)};
    style.PopupRounding = style.WindowRounding = 4;
}

// Pixels of a wheel's notch are Qt's 120 eighths of a degree.
ImVec2 notches(const QWheelEvent& event) {
    return {static_cast<float>(event.angleDelta().x()) / 120, static_cast<float>(event.angleDelta().y()) / 120};
}

}  // namespace

QString ImguiSurface::obstacle() {
    QOpenGLContext context;
    QOffscreenSurface surface;
    surface.create();
    if (!context.create() || !surface.isValid() || !context.makeCurrent(&surface))
        return tr(
            "No OpenGL context can be had here, and the timeline is drawn with OpenGL. A graphics driver, or Mesa's "
            "software one (libgl1-mesa-dri), brings it.");
    const QSurfaceFormat format = context.format();
    context.doneCurrent();
    if (!context.isOpenGLES() && format.version() >= qMakePair(3, 2)) return {};
    return tr("The graphics driver offers OpenGL%1 %2.%3; the timeline is drawn with OpenGL 3.2 or later.")
        .arg(context.isOpenGLES() ? QStringLiteral(" ES") : QString())
        .arg(format.majorVersion())
        .arg(format.minorVersion());
}

ImguiSurface::ImguiSurface(QWidget* parent) : QOpenGLWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    m_context = ImGui::CreateContext();
    ImGui::SetCurrentContext(m_context);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.MousePos = {-FLT_MAX, -FLT_MAX};
#if IMGUI_VERSION_NUM < 18700
    for (const auto& [qtKey, key] : kKeys) io.KeyMap[key] = key;
#endif
}

ImguiSurface::~ImguiSurface() {
    releaseRenderer();
    ImGui::DestroyContext(m_context);
}

void ImguiSurface::releaseRenderer() {
    if (!std::exchange(m_rendererReady, false)) return;
    makeCurrent();
    ImGui::SetCurrentContext(m_context);
    ImGui_ImplOpenGL3_Shutdown();
    doneCurrent();
}

// Comes again when the widget moves to another window, as a dock does: with a new OpenGL context.
void ImguiSurface::initializeGL() {
    ImGui::SetCurrentContext(m_context);
    m_rendererReady = ImGui_ImplOpenGL3_Init("#version 150");
    m_fontScale = 0;
    connect(context(), &QOpenGLContext::aboutToBeDestroyed, this, &ImguiSurface::releaseRenderer, Qt::UniqueConnection);
}

void ImguiSurface::beginFrame() {
    ImGuiIO& io = ImGui::GetIO();
    const double scale = devicePixelRatioF();
    if (m_fontScale != scale) {
        m_fontScale = scale;
        buildImguiFont(*io.Fonts, font(), scale);
        io.FontGlobalScale = static_cast<float>(1 / scale);
        ImGui_ImplOpenGL3_DestroyDeviceObjects();  // NewFrame makes them again, with the new font's texture
    }
    applyColors(currentTheme());
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    io.DeltaTime = std::clamp(static_cast<float>(now - std::exchange(m_lastFrame, now)) / 1000, 0.001f, 0.1f);
    io.DisplaySize = {static_cast<float>(width()), static_cast<float>(height())};
    io.DisplayFramebufferScale = {static_cast<float>(scale), static_cast<float>(scale)};
}

void ImguiSurface::paintGL() {
    if (!m_rendererReady) return;
    ImGui::SetCurrentContext(m_context);
    beginFrame();
    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
    buildFrame();
    ImGui::Render();
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    ImGui::GetIO().MouseWheel = ImGui::GetIO().MouseWheelH = 0;
    if (m_framesToSettle > 0 && --m_framesToSettle > 0) update();
}

void ImguiSurface::frameAfterEvent() {
    m_framesToSettle = 2;
    update();
}

void ImguiSurface::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) m_fontScale = 0;
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) frameAfterEvent();
    QOpenGLWidget::changeEvent(event);
}

// Tab leaves the surface as it leaves every widget.
bool ImguiSurface::event(QEvent* event) {
    ImGui::SetCurrentContext(m_context);
    return QOpenGLWidget::event(event);
}

void ImguiSurface::passModifiers(Qt::KeyboardModifiers modifiers) {
    ImGuiIO& io = ImGui::GetIO();
    io.KeyCtrl = modifiers & Qt::ControlModifier;
    io.KeyShift = modifiers & Qt::ShiftModifier;
    io.KeyAlt = modifiers & Qt::AltModifier;
    io.KeySuper = modifiers & Qt::MetaModifier;
}

void ImguiSurface::passButton(const QMouseEvent& event, bool down) {
    passModifiers(event.modifiers());
    const int button = event.button() == Qt::LeftButton ? 0 : event.button() == Qt::RightButton ? 1 : 2;
    ImGui::GetIO().MouseDown[button] = down;
    frameAfterEvent();
}

void ImguiSurface::mouseMoveEvent(QMouseEvent* event) {
    ImGui::GetIO().MousePos = {static_cast<float>(event->position().x()), static_cast<float>(event->position().y())};
    frameAfterEvent();
}

void ImguiSurface::mousePressEvent(QMouseEvent* event) { passButton(*event, true); }
void ImguiSurface::mouseReleaseEvent(QMouseEvent* event) { passButton(*event, false); }
void ImguiSurface::mouseDoubleClickEvent(QMouseEvent* event) { passButton(*event, true); }

void ImguiSurface::wheelEvent(QWheelEvent* event) {
    const ImVec2 moved = notches(*event);
    ImGui::GetIO().MouseWheelH += moved.x;
    ImGui::GetIO().MouseWheel += moved.y;
    event->accept();
    frameAfterEvent();
}

void ImguiSurface::passKey(const QKeyEvent& event, bool down) {
    passModifiers(event.modifiers());
    for (const auto& [qtKey, key] : kKeys) {
        if (event.key() != qtKey) continue;
#if IMGUI_VERSION_NUM < 18700
        ImGui::GetIO().KeysDown[key] = down;
#else
        ImGui::GetIO().AddKeyEvent(key, down);
#endif
    }
    frameAfterEvent();
}

void ImguiSurface::keyPressEvent(QKeyEvent* event) {
    passKey(*event, true);
    const QString text = event->text();
    if (!text.isEmpty() && text.front().isPrint()) ImGui::GetIO().AddInputCharactersUTF8(text.toUtf8().constData());
    QOpenGLWidget::keyPressEvent(event);
}

void ImguiSurface::keyReleaseEvent(QKeyEvent* event) {
    passKey(*event, false);
    QOpenGLWidget::keyReleaseEvent(event);
}

void ImguiSurface::focusInEvent(QFocusEvent* event) {
    ImGui::GetIO().AddFocusEvent(true);
    frameAfterEvent();
    QOpenGLWidget::focusInEvent(event);
}

void ImguiSurface::focusOutEvent(QFocusEvent* event) {
    ImGui::GetIO().AddFocusEvent(false);
    frameAfterEvent();
    QOpenGLWidget::focusOutEvent(event);
}

void ImguiSurface::leaveEvent(QEvent* event) {
    ImGui::GetIO().MousePos = {-FLT_MAX, -FLT_MAX};
    frameAfterEvent();
    QOpenGLWidget::leaveEvent(event);
}

}  // namespace lockstep::ui
