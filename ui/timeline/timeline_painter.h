#pragma once
#include <QColor>
#include <QPointF>
#include <QStringList>
#include <optional>

#include "ui/style/theme.h"
#include "ui/timeline/timeline_state.h"

struct ImDrawList;

namespace lockstep::ui {

QColor spanColor(SpanKind kind, const Theme& theme);

// Draws one frame; call it between ImGui::NewFrame and Render. Knows no events.
class TimelinePainter {
public:
    TimelinePainter(const TimelineState& state, const TimelineScene& scene, double width, double height);
    void paint(const std::optional<TimelineModel::Hit>& hovered, bool focused);

private:
    void paintGround();
    void paintRanks();
    void paintAxis();
    void paintSpan(const TimelineScene::Rect& rect);
    void paintName(const TimelineScene::Rect& rect, const QColor& ground);
    void paintSelection();
    void paintHovered(const TimelineModel::Hit& hit);
    void text(double x, double y, const QColor& color, const std::string& words);
    void box(double x, double y, double width, double height, const QColor& color, double rounding = 0);
    void line(double x0, double y0, double x1, double y1, const QColor& color);

    const TimelineState& m_state;
    const TimelineScene& m_scene;
    const Theme& m_theme;
    ImDrawList* m_list;
    double m_width, m_height, m_textHeight, m_letterWidth;
};

void showTooltip(const QStringList& lines);  // at the mouse

}  // namespace lockstep::ui
