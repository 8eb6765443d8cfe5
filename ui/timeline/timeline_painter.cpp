#include "ui/timeline/timeline_painter.h"

#include <imgui.h>

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "ui/timeline/timeline_text.h"

namespace lockstep::ui {

namespace {

struct TimelinePainterText {
    Q_DECLARE_TR_FUNCTIONS(TimelinePainterText)
};

constexpr double kGutter = TimelineScene::kGutter, kHeader = TimelineScene::kHeader;
constexpr double kNamePadding = 4, kSeparated = 3, kStripe = 4, kFaintest = 0.4;

ImU32 packed(const QColor& c) { return IM_COL32(c.red(), c.green(), c.blue(), c.alpha()); }

ImVec2 point(double x, double y) { return {static_cast<float>(x), static_cast<float>(y)}; }

QColor mixed(const QColor& from, const QColor& to, double share) {
    const auto mix = [&](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * share)); };
    return {mix(from.red(), to.red()), mix(from.green(), to.green()), mix(from.blue(), to.blue())};
}

// Neighbouring layers differ a little, so that they can be told apart.
QColor shaded(const QColor& color, std::uint32_t name, const Theme& theme) {
    constexpr double kShades[] = {0, 0.14, 0.28};
    return mixed(color, theme.surface, kShades[name % 3]);
}

QColor withAlpha(QColor color, double alpha) {
    color.setAlphaF(static_cast<float>(alpha));
    return color;
}

QColor inkOn(const QColor& ground) {
    const auto linear = [](float channel) { return std::pow(static_cast<double>(channel), 2.2); };
    const double red = linear(ground.redF()), green = linear(ground.greenF()), blue = linear(ground.blueF());
    const double light = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    return light > 0.18 ? QColor("#0c1622") : QColor("#ffffff");  // where both have the same contrast (WCAG 2.1)
}

double widthOf(const std::string& words) {
    return static_cast<double>(ImGui::CalcTextSize(words.data(), words.data() + words.size()).x);
}

}  // namespace

QColor spanColor(SpanKind kind, const Theme& theme) {
    switch (kind) {
        case SpanKind::Load: return theme.load;
        case SpanKind::Compute: return theme.compute;
        case SpanKind::Reduce: return theme.reduce;
        case SpanKind::Update: return theme.update;
        case SpanKind::WaitReduce:
        case SpanKind::WaitData: return theme.wait;
    }
    return theme.wait;
}

TimelinePainter::TimelinePainter(const TimelineState& state, const TimelineScene& scene, double width, double height)
    : m_state(state),
      m_scene(scene),
      m_theme(currentTheme()),
      m_list(ImGui::GetBackgroundDrawList()),
      m_width(width),
      m_height(height),
      m_textHeight(ImGui::GetTextLineHeight()),
      m_letterWidth(widthOf("n")) {}

void TimelinePainter::text(double x, double y, const QColor& color, const std::string& words) {
    m_list->AddText(point(std::round(x), std::round(y)), packed(color), words.data(), words.data() + words.size());
}

void TimelinePainter::box(double x, double y, double width, double height, const QColor& color, double rounding) {
    m_list->AddRectFilled(point(x, y), point(x + width, y + height), packed(color), static_cast<float>(rounding));
}

void TimelinePainter::line(double x0, double y0, double x1, double y1, const QColor& color) {
    m_list->AddLine(point(x0, y0), point(x1, y1), packed(color));
}

void TimelinePainter::paint(const std::optional<TimelineModel::Hit>& hovered, bool focused) {
    paintGround();
    m_list->PushClipRect(point(0, kHeader), point(m_width, m_height), true);
    paintRanks();
    m_list->PushClipRect(point(kGutter, kHeader), point(m_width, m_height), true);
    for (const TimelineScene::Rect& rect : m_scene.rects) paintSpan(rect);
    if (hovered) paintHovered(*hovered);
    m_list->PopClipRect();
    m_list->PopClipRect();
    paintAxis();
    paintSelection();
    if (focused) m_list->AddRect(point(1, 1), point(m_width - 1, m_height - 1), packed(m_theme.accent), 0, 0, 2);
}

void TimelinePainter::paintGround() {
    box(0, 0, m_width, m_height, m_theme.surface);
    for (const TimelineScene::Tick& tick : m_scene.ticks) line(tick.x, kHeader, tick.x, m_height, m_theme.grid);
    for (const TimelineScene::Mark& mark : m_scene.marks) line(mark.x, kHeader, mark.x, m_height, m_theme.border);
}

void TimelinePainter::paintRanks() {
    for (const TimelineScene::RankBox& rank : m_scene.ranks) {
        box(0, rank.y, m_width, TimelineScene::kTitle - 2, m_theme.raised);
        const double y = rank.y + (TimelineScene::kTitle - 2 - m_textHeight) / 2;
        text(space::kMedium, y, m_theme.text, TimelinePainterText::tr("Rank %1").arg(rank.rank).toStdString());
    }
    for (const TimelineScene::RowBox& row : m_scene.rows) {
        if (row.lane->slot > 0) continue;
        const double y = row.y + (TimelineScene::kRowHeight - m_textHeight) / 2;
        text(space::kMedium, y, m_theme.muted, rowText(row.lane->row).toStdString());
    }
}

void TimelinePainter::paintAxis() {
    box(0, 0, m_width, kHeader, m_theme.surface);
    const double timeY = (kHeader / 2 - m_textHeight) / 2, stepY = kHeader / 2 + timeY;
    text(space::kMedium, timeY, m_theme.muted, TimelinePainterText::tr("Time").toStdString());
    text(space::kMedium, stepY, m_theme.muted, TimelinePainterText::tr("Step").toStdString());
    m_list->PushClipRect(point(kGutter, 0), point(m_width, kHeader), true);
    for (const TimelineScene::Tick& tick : m_scene.ticks) {
        line(tick.x, 0, tick.x, kHeader / 2, m_theme.border);
        const QString words = axisText(tick.time - m_state.model.origin(), m_scene.tickSpacing);
        text(tick.x + space::kSmall, timeY, m_theme.muted, words.toStdString());
    }
    for (const TimelineScene::Mark& mark : m_scene.marks) {
        line(mark.x, kHeader / 2, mark.x, kHeader, m_theme.muted);
        text(mark.x + space::kSmall, stepY, m_theme.text, std::to_string(mark.step + 1));
    }
    m_list->PopClipRect();
    line(0, kHeader, m_width, kHeader, m_theme.border);
    line(kGutter, 0, kGutter, m_height, m_theme.border);
}

void TimelinePainter::paintSpan(const TimelineScene::Rect& rect) {
    const bool single = rect.block.count == 1;
    const QColor kind = spanColor(rect.block.kind, m_theme);
    const bool layered = single && rect.block.kind == SpanKind::Compute;
    const QColor color = layered ? shaded(kind, rect.lane->spans.at(rect.block.first).name, m_theme) : kind;
    // A hairline of ground between neighbours, where there is room for it.
    const double width = rect.width > kSeparated ? rect.width - 1 : rect.width;
    const double alpha = single ? 1 : kFaintest + (1 - kFaintest) * rect.density;
    box(rect.x, rect.y, width, rect.height, withAlpha(color, alpha));
    if (rowOf(rect.block.kind) == Row::Wait) {
        const QColor cause = rect.block.kind == SpanKind::WaitData ? m_theme.load : m_theme.reduce;
        box(rect.x, rect.y + rect.height - kStripe, width, kStripe, withAlpha(cause, alpha));
    }
    if (single && rect.width > 3 * m_letterWidth) paintName(rect, color);
}

void TimelinePainter::paintName(const TimelineScene::Rect& rect, const QColor& ground) {
    const std::string& whole = m_state.model.name(rect.lane->spans.at(rect.block.first).name);
    const double room = rect.width - 2 * kNamePadding;
    for (const std::string& words : {whole, whole.substr(whole.rfind(' ') + 1)}) {
        if (words.empty() || widthOf(words) > room) continue;
        text(rect.x + kNamePadding, rect.y + (rect.height - m_textHeight) / 2, inkOn(ground), words);
        return;
    }
}

void TimelinePainter::paintSelection() {
    if (!m_state.selection) return;
    const TimelineViewport& viewport = m_state.viewport;
    const auto edge = [&](std::int64_t time) {
        return kGutter + std::clamp(viewport.xOf(time), 0.0, viewport.width());
    };
    const double left = edge(m_state.selection->begin), right = edge(m_state.selection->end);
    box(left, 0, std::max(right - left, 1.0), m_height, withAlpha(m_theme.accent, 0.16));
    line(left, 0, left, m_height, m_theme.accent);
    line(right, 0, right, m_height, m_theme.accent);
}

void TimelinePainter::paintHovered(const TimelineModel::Hit& hit) {
    const auto same = [&](const TimelineScene::Rect& rect) {
        return rect.lane == hit.lane && rect.block.first == hit.block.first;
    };
    const auto found = std::ranges::find_if(m_scene.rects, same);
    if (found == m_scene.rects.end()) return;
    m_list->AddRect(point(found->x - 1, found->y - 1), point(found->x + found->width, found->y + found->height + 1),
                    packed(m_theme.text), 0, 0, 2);
}

void showTooltip(const QStringList& lines) {
    ImGui::BeginTooltip();
    for (int i = 0; i < lines.size(); ++i) {
        const QByteArray utf8 = lines[i].toUtf8();
        if (i == 0) ImGui::TextUnformatted(utf8.constData());
        else ImGui::TextDisabled("%s", utf8.constData());
    }
    ImGui::EndTooltip();
}

}  // namespace lockstep::ui
