#include "ui/compare/compare_view.h"

#include <algorithm>

#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kRestMilliseconds = 150;

}  // namespace

std::size_t CompareScene::passing() const { return static_cast<std::size_t>(std::ranges::count(passes, true)); }

CompareView::CompareView(TrialSelection* selection, QWidget* parent) : QWidget(parent), m_selection(*selection) {
    setMouseTracking(true);
    const auto light = [this] {
        if (m_scene && isLookedAt()) lightChanged();
    };
    connect(selection, &TrialSelection::hoveredChanged, this, light);
    connect(selection, &TrialSelection::pinnedChanged, this, light);
    m_later.setSingleShot(true);
    m_later.setInterval(kRestMilliseconds);
    connect(&m_later, &QTimer::timeout, this, &CompareView::settle);
}

void CompareView::setScene(SharedScene scene) {
    const bool isOfSameTrials = m_scene && scene && m_scene->table == scene->table;
    m_latest = std::move(scene);
    if (isOfSameTrials && visibleRegion().isEmpty()) m_later.start();
    else settle();
}

void CompareView::settle() {
    m_later.stop();
    if (m_scene == m_latest && !m_isSceneDue) return;
    m_scene = m_latest;
    m_isSceneDue = !isLookedAt();
    if (!m_isSceneDue && m_scene) sceneChanged();
}

// Its card hides it while it has nothing to show: the scene that has something must come through.
bool CompareView::isLookedAt() const { return isVisible() || (parentWidget() && parentWidget()->isVisible()); }

QString CompareView::emptyText() const { return {}; }

void CompareView::save(QSettings&) const {}

void CompareView::restore(const QSettings&) {}

void CompareView::hover(std::optional<std::size_t> row) {
    m_selection.setHovered(row ? std::optional(m_scene->table->trials[*row].trial) : std::nullopt);
}

std::optional<std::size_t> CompareView::hoveredRow() const {
    const auto trial = m_selection.hovered();
    return trial && m_scene ? m_scene->table->rowOf(*trial) : std::nullopt;
}

QColor CompareView::colorOf(std::size_t row) const {
    const auto place = m_selection.placeOf(m_scene->table->trials[row].trial);
    return place ? seriesColor(*place, currentTheme()) : currentTheme().muted;
}

bool CompareView::isPinned(std::size_t row) const {
    return m_selection.placeOf(m_scene->table->trials[row].trial).has_value();
}

void CompareView::togglePin(std::size_t row) { m_selection.pin(m_scene->table->trials[row].trial, !isPinned(row)); }

void CompareView::openClicked(std::size_t row) {
    togglePin(row);
    emit openWanted(m_scene->table->trials[row].trial);
}

bool CompareView::event(QEvent* event) {
    if (event->type() == QEvent::Paint) settle();
    return QWidget::event(event);
}

void CompareView::leaveEvent(QEvent* event) {
    QWidget::leaveEvent(event);
    m_selection.setHovered(std::nullopt);
}

void CompareView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (!m_isSceneDue) return;
    settle();
    if (m_scene) lightChanged();
}

}  // namespace lockstep::ui
