#include "ui/timeline/timeline_scene.h"

#include <algorithm>

namespace lockstep::ui {

namespace {

constexpr double kTickDistance = 110, kMarkDistance = 64;

std::size_t howMany(double width, double distance) { return static_cast<std::size_t>(std::max(width / distance, 2.0)); }

void addRects(TimelineScene& scene, const TimelineScene::RowBox& row, const TimelineViewport& viewport,
              std::vector<FoldedBlock>& blocks) {
    blocks.clear();
    row.lane->spans.fold(viewport.range(), viewport.pixel(), blocks);
    for (const FoldedBlock& block : blocks) {
        const double left = std::max(viewport.xOf(block.begin), 0.0);
        const double right = std::min(viewport.xOf(block.end), viewport.width());
        const double length = static_cast<double>(std::max(block.end - block.begin, viewport.pixel()));
        const double density = std::min(static_cast<double>(block.busy) / length, 1.0);
        scene.rects.push_back({TimelineScene::kGutter + left, row.y, std::max(right - left, 1.0),
                               TimelineScene::kRowHeight, row.lane, block, density});
    }
}

void addRows(TimelineScene& scene, const TimelineModel& model, double scroll) {
    double y = TimelineScene::kHeader - scroll;
    for (const auto& lane : model.lanes()) {
        if (scene.ranks.empty() || scene.ranks.back().rank != lane->rank) {
            if (!scene.ranks.empty()) y += TimelineScene::kRankGap;
            scene.ranks.push_back({lane->rank, y, 0});
            y += TimelineScene::kTitle;
        }
        scene.rows.push_back({lane.get(), y});
        y += TimelineScene::kRowHeight + TimelineScene::kRowGap;
        scene.ranks.back().height = y - scene.ranks.back().y;
    }
    scene.contentHeight = y + scroll;
}

}  // namespace

const TimelineModel::Lane* TimelineScene::laneAt(double y) const {
    const auto row =
        std::ranges::find_if(rows, [&](const RowBox& each) { return y >= each.y && y < each.y + kRowHeight; });
    return row == rows.end() || y < kHeader ? nullptr : row->lane;
}

TimelineScene layOut(const TimelineModel& model, const TimelineViewport& viewport, double height, double scroll) {
    TimelineScene scene;
    addRows(scene, model, scroll);
    std::vector<FoldedBlock> blocks;
    for (const TimelineScene::RowBox& row : scene.rows) {
        const bool visible = row.y + TimelineScene::kRowHeight > TimelineScene::kHeader && row.y < height;
        if (visible) addRects(scene, row, viewport, blocks);
    }
    for (const auto& mark : model.steps(viewport.range(), howMany(viewport.width(), kMarkDistance))) {
        scene.marks.push_back({TimelineScene::kGutter + viewport.xOf(mark.begin), mark.step});
    }
    const std::size_t ticks = howMany(viewport.width(), kTickDistance);
    for (const std::int64_t time : axisTicks(viewport.range(), model.origin(), ticks, scene.tickSpacing)) {
        scene.ticks.push_back({TimelineScene::kGutter + viewport.xOf(time), time});
    }
    return scene;
}

}  // namespace lockstep::ui
