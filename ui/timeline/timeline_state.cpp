#include "ui/timeline/timeline_state.h"

#include <QtCore/qnamespace.h>

#include <algorithm>

namespace lockstep::ui {

namespace {

constexpr double kCloser = 0.8, kPanShare = 0.15, kStepMargin = 0.05;
constexpr std::int64_t kFollowedSteps = 8;

}  // namespace

void TimelineState::dataChanged(bool live) {
    if (model.empty()) return;
    viewport.setData(model.range());
    if (!m_shown) showFirst(live);
    m_shown = true;
}

void TimelineState::showFirst(bool live) {
    viewport.fit();
    const auto last = model.stepAt(model.range().end);
    if (!live || !last) return;
    const auto from = model.rangeOfStep(last->step - kFollowedSteps);
    if (from) viewport.show({from->begin, model.range().end});
    viewport.setFollowing(true);
}

void TimelineState::resize(double width, double canvasHeight) {
    viewport.setWidth(width - TimelineScene::kGutter);
    height = canvasHeight;
    scrollBy(0);
}

void TimelineState::scrollBy(double pixels) {
    const double content = layOut(model, viewport, 0, 0).contentHeight;
    scroll = std::clamp(scroll + pixels, 0.0, std::max(content - height, 0.0));
}

bool TimelineState::press(int key) {
    if (model.empty()) return false;
    const double width = viewport.width(), middle = width / 2;
    switch (key) {
        case Qt::Key_Left: viewport.panBy(-width * kPanShare); return true;
        case Qt::Key_Right: viewport.panBy(width * kPanShare); return true;
        case Qt::Key_Up: scrollBy(-TimelineScene::kRowHeight); return true;
        case Qt::Key_Down: scrollBy(TimelineScene::kRowHeight); return true;
        case Qt::Key_PageUp: scrollBy(-height / 2); return true;
        case Qt::Key_PageDown: scrollBy(height / 2); return true;
        case Qt::Key_Plus:
        case Qt::Key_Equal: viewport.zoomAt(middle, kCloser); return true;
        case Qt::Key_Minus: viewport.zoomAt(middle, 1 / kCloser); return true;
        case Qt::Key_Home: viewport.goToBegin(); return true;
        case Qt::Key_End: viewport.goToEnd(); return true;
        case Qt::Key_F: viewport.fit(); return true;
        case Qt::Key_L: viewport.setFollowing(!viewport.following()); return true;
        case Qt::Key_Escape: {
            const bool had = selection.has_value();
            selection.reset();
            return had;
        }
        default: return false;
    }
}

void TimelineState::zoomToStep(std::int64_t time) {
    const auto step = model.stepAt(time);
    const auto range = step ? model.rangeOfStep(step->step) : std::nullopt;
    if (!range) return;
    const auto margin = static_cast<std::int64_t>(static_cast<double>(range->length()) * kStepMargin);
    viewport.show({range->begin - margin, range->end + margin});
}

void TimelineState::select(std::int64_t from, std::int64_t to) {
    selection = TimeRange{std::min(from, to), std::max(from, to)};
}

}  // namespace lockstep::ui
