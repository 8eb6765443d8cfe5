#pragma once
#include <optional>

#include "ui/timeline/timeline_scene.h"

namespace lockstep::ui {

// What is shown of a timeline, and what keys and gestures do to it; arithmetic, needs no window.
struct TimelineState {
    TimelineModel model;
    TimelineViewport viewport;
    std::optional<TimeRange> selection;
    double scroll = 0, height = 0;  // of the canvas

    // After spans came. The first that come decide: `live` ones are followed a few steps wide, others are shown whole.
    void dataChanged(bool live);
    void resize(double width, double height);  // of the canvas
    bool press(int key);                       // Qt::Key; false: means nothing here
    void scrollBy(double pixels);
    void zoomToStep(std::int64_t time);  // the one that goes on at `time`
    void select(std::int64_t from, std::int64_t to);
    TimeRange described() const { return selection.value_or(viewport.range()); }

private:
    void showFirst(bool live);
    bool m_shown = false;
};

}  // namespace lockstep::ui
