#pragma once
#include "ui/timeline/timeline_model.h"
#include "ui/timeline/timeline_viewport.h"

namespace lockstep::ui {

// Where everything lies, in device-independent pixels from the canvas' left upper corner; plain arithmetic. Names and
// numbers on the left (kGutter), time axis and steps on top (kHeader), below them the ranks, scrolled by `scroll`.
struct TimelineScene {
    static constexpr double kGutter = 96, kHeader = 44, kTitle = 22, kRowHeight = 20, kRowGap = 2, kRankGap = 10;

    struct Rect {
        double x = 0, y = 0, width = 0, height = 0;
        const TimelineModel::Lane* lane = nullptr;
        FoldedBlock block;
        double density = 1;  // share of the rectangle's time that its spans take
    };
    struct RowBox {
        const TimelineModel::Lane* lane = nullptr;
        double y = 0;
    };
    struct RankBox {
        int rank = 0;
        double y = 0, height = 0;
    };
    struct Mark {
        double x = 0;
        std::int64_t step = 0;
    };
    struct Tick {
        double x = 0;
        std::int64_t time = 0;
    };

    std::vector<Rect> rects;  // within the canvas only
    std::vector<RowBox> rows;
    std::vector<RankBox> ranks;
    std::vector<Mark> marks;
    std::vector<Tick> ticks;
    std::int64_t tickSpacing = 0;
    double contentHeight = 0;  // of header and ranks, unscrolled

    const TimelineModel::Lane* laneAt(double y) const;  // null: none
};

// The cost is bounded by the canvas' pixels, not by the spans in memory.
TimelineScene layOut(const TimelineModel& model, const TimelineViewport& viewport, double height, double scroll);

}  // namespace lockstep::ui
