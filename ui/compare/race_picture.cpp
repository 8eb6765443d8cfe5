#include "ui/compare/race_picture.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "engine/report/chart_scale.h"
#include "ui/compare/race_text.h"
#include "ui/plot/plot_marks.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

struct RacePictureText {
    Q_DECLARE_TR_FUNCTIONS(RacePictureText)
};

constexpr double kMostLines = 3.4, kLeastLines = 1.05;  // of a lane, in lines of its type
constexpr double kNameShare = 0.3, kTrackShare = 0.45;  // of the width: of names at most, of bars where there is room
constexpr double kLeastType = 6.5;                      // points
constexpr double kFaint = 0.35, kFlag = 0.95;           // kFlag: its column, in lines

QFont sized(QFont font, double factor) {
    if (font.pixelSize() > 0) font.setPixelSize(std::max(8, static_cast<int>(font.pixelSize() * factor)));
    else font.setPointSizeF(std::max(kLeastType, font.pointSizeF() * factor));
    return font;
}

QColor faint(QColor color, double alpha) {
    color.setAlphaF(static_cast<float>(alpha));
    return color;
}

}  // namespace

RacePicture::RacePicture(const RacePlayer& player, const std::vector<RacePlayer::Drawn>& drawn, const RaceLook& look,
                         const QRectF& area, const QFont& font)
    : m_player(player), m_race(player.race()), m_drawn(drawn), m_look(look), m_area(area), m_font(font) {
    const double line = QFontMetricsF(m_font).height();
    const auto lanes = static_cast<double>(std::max<std::size_t>(1, m_look.lanes.size()));
    m_head = 1.5 * line;
    const double room = area.height() - m_head;
    m_ticks = room - 1.4 * line >= lanes * kLeastLines * line ? 1.4 * line : 0;
    m_lane = std::min((room - m_ticks) / lanes, kMostLines * line);
    if (m_lane < kLeastLines * line) m_font = sized(font, m_lane / (kLeastLines * line));
    m_bold = m_font;
    m_bold.setBold(true);
    findColumns();
}

double RacePicture::widest(const std::function<QString(std::size_t)>& text) const {
    const QFontMetricsF metrics(m_bold);
    double widest = 0;
    for (std::size_t i = 0; i < m_look.lanes.size(); ++i) widest = std::max(widest, metrics.horizontalAdvance(text(i)));
    return widest;
}

// As wide as what stands in them at the end, so that nothing moves sideways during the race.
void RacePicture::findColumns() {
    const QFontMetricsF metrics(m_font);
    const double gap = metrics.height() * 0.6, top = m_area.top() + m_head;
    const double high = m_lane * static_cast<double>(m_look.lanes.size());
    const double place = widest([](std::size_t i) { return QString::number(i + 1); });
    const double mark = metrics.height() * 1.3;
    const double name = mark + widest([&](std::size_t i) { return m_look.lanes[i].name; });
    const double all = mark + widest([&](std::size_t i) {
                           const auto& lane = m_look.lanes[i];
                           return lane.words.isEmpty() ? lane.name : lane.name + "  " + lane.words;
                       });
    const double finish = m_race.rules().target ? gap + kFlag * metrics.height() +
                                                      widest([&](std::size_t i) { return raceFinishText(m_race, i); })
                                                : 0;
    const double value = widest([&](std::size_t i) { return valueText(m_race.bestOf(i)); });
    double left = m_area.left();
    const auto take = [&](double width) {
        const QRectF column(left, top, width, high);
        left += width;
        return column;
    };
    m_place = take(place + gap / 2);
    // Words give way to the bars, at last the names, too.
    const double room = m_area.right() - left - value - finish - 2 * gap, track = kTrackShare * m_area.width();
    m_name = take(std::min({all, m_area.width() * kNameShare, std::max(std::min(name, room / 2), room - track)}));
    left += gap;
    m_track = take(std::max(gap, m_area.right() - left - value - finish - gap));
    left += gap;
    m_value = take(value);
    m_finish = take(finish);
}

QString RacePicture::valueText(double value) const {
    return std::isfinite(value) ? m_look.text(value) : QStringLiteral("–");
}

QString RacePicture::finishText(const RunnerState& state) const {
    return state.reachedAt || state.hasEnded ? raceFinishText(m_race, state.runner) : QString();
}

QRectF RacePicture::laneOf(std::size_t runner) const {
    return {m_area.left(), m_area.top() + m_head + m_lane * m_drawn[runner].lane, m_area.width(), m_lane};
}

std::optional<std::size_t> RacePicture::runnerAt(QPointF at) const {
    for (std::size_t runner = 0; runner < m_drawn.size(); ++runner)
        if (laneOf(runner).contains(at)) return runner;
    return std::nullopt;
}

void RacePicture::write(QPainter& painter, const QRectF& box, int how, const QColor& color, const QString& text) const {
    painter.setPen(color);
    painter.drawText(box, how | Qt::AlignVCenter,
                     QFontMetricsF(painter.font()).elidedText(text, Qt::ElideRight, box.width() + 1));
}

void RacePicture::paint(QPainter& painter, std::optional<std::size_t> lit) const {
    if (m_drawn.size() != m_look.lanes.size() || m_drawn.empty()) return;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(m_font);
    paintHead(painter);
    if (m_ticks > 0) paintTicks(painter);
    const auto& standing = m_player.standing();
    for (std::size_t place = standing.size(); place-- > 0;) paintLane(painter, place, standing[place].runner == lit);
    paintFinish(painter);
    painter.restore();
}

// The moment, or what it came to; above the columns of the right what they are.
void RacePicture::paintHead(QPainter& painter) const {
    const Theme& theme = currentTheme();
    const QRectF head(m_area.left(), m_area.top(), m_area.width(), m_head);
    const PlotAxis clock = m_race.rules().clock;
    const QString said = m_player.isOver()
                             ? RacePictureText::tr("Result after %1").arg(raceClockText(clock, m_race.end()))
                             : raceMoment(clock, m_player.at(), m_race.end());
    painter.setFont(m_bold);
    const double wide = QFontMetricsF(m_bold).horizontalAdvance(said);
    write(painter, head, Qt::AlignLeft, theme.text, said);
    painter.setFont(m_font);
    const QFontMetricsF metrics(m_font);
    const QString value = RacePictureText::tr("Best"), finish = RacePictureText::tr("Reached");
    double right = m_value.right() - std::max(m_value.width(), metrics.horizontalAdvance(value));
    write(painter, {right, head.top(), m_value.right() - right, m_head}, Qt::AlignRight, theme.muted, value);
    if (!m_race.rules().target) return;
    const double from = m_finish.right() - std::max(m_finish.width(), metrics.horizontalAdvance(finish));
    if (from >= m_value.right() - 1)
        write(painter, {from, head.top(), m_finish.right() - from, m_head}, Qt::AlignRight, theme.muted, finish);
    const double at = x(m_race.progressOf(*m_race.rules().target)), gap = metrics.height() / 2;
    for (const QString& words : {RacePictureText::tr("Target %1").arg(m_look.text(*m_race.rules().target)),
                                 m_look.text(*m_race.rules().target)}) {
        const double width = metrics.horizontalAdvance(words) + 1;
        const double to = std::min(at + width / 2, right - gap);
        if (to - width < head.left() + wide + 2 * gap || to < at) continue;
        return write(painter, {to - width, head.top(), width, m_head}, Qt::AlignLeft, theme.text, words);
    }
}

void RacePicture::paintTicks(QPainter& painter) const {
    const Theme& theme = currentTheme();
    const QFontMetricsF metrics(m_font);
    const double low = std::min(m_race.start(), m_race.goal()), high = std::max(m_race.start(), m_race.goal());
    if (low >= high) return;
    const double each = metrics.horizontalAdvance(m_look.text(high)) * 1.8;
    const auto scale = report::linearScale(low, high, std::max(3, static_cast<int>(m_track.width() / each)), false);
    std::vector<std::pair<double, double>> written;
    for (const double tick : scale.ticks) {
        const double at = x(m_race.progressOf(tick));
        painter.setPen(QPen(theme.grid, 1));
        painter.drawLine(QPointF(at, m_track.top()), QPointF(at, m_track.bottom()));
        const QString words = m_look.text(tick);
        const double half = metrics.horizontalAdvance(words) / 2 + 1;
        const bool isFree = std::ranges::all_of(written, [&](const auto& other) {
            return at - half > other.second + half / 2 || at + half < other.first - half / 2;
        });
        if (!isFree || at - half < m_area.left() || at + half > m_area.right()) continue;
        written.emplace_back(at - half, at + half);
        write(painter, {at - half, m_track.bottom(), 2 * half, m_ticks}, Qt::AlignHCenter, theme.muted, words);
    }
}

// Chequered, as at a race.
void RacePicture::paintFinish(QPainter& painter) const {
    if (!m_race.rules().target) return;
    const Theme& theme = currentTheme();
    const double square = std::max(3.0, QFontMetricsF(m_font).height() / 5);
    const double left = x(m_race.progressOf(*m_race.rules().target));
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.fillRect(QRectF(left, m_track.top(), 2 * square, m_track.height()), theme.surface);
    painter.setClipRect(QRectF(left, m_track.top(), 2 * square, m_track.height()));
    const int rows = static_cast<int>(std::ceil(m_track.height() / square));
    for (int row = 0; row < rows; ++row)
        painter.fillRect(QRectF(left + (row % 2) * square, m_track.top() + row * square, square, square), theme.text);
    painter.restore();
}

void RacePicture::paintLane(QPainter& painter, std::size_t place, bool isLit) const {
    const Theme& theme = currentTheme();
    const RunnerState& state = m_player.standing()[place];
    const QRectF lane = laneOf(state.runner);
    if (isLit) painter.fillRect(lane, theme.raised);
    const bool isFirst = place == 0 && std::isfinite(state.best);
    const auto column = [&](const QRectF& of) { return QRectF(of.left(), lane.top(), of.width(), lane.height()); };
    paintBar(painter, column(m_track), state.runner);
    painter.setFont(isFirst ? m_bold : m_font);
    write(painter, column(m_place), Qt::AlignLeft, theme.muted, QString::number(place + 1));
    paintName(painter, column(m_name), place);
    painter.setFont(isFirst ? m_bold : m_font);
    write(painter, column(m_value), Qt::AlignRight, theme.text, valueText(state.best));
    if (m_race.rules().target)
        write(painter, column(m_finish), Qt::AlignRight, state.reachedAt ? theme.good : theme.muted, finishText(state));
    if (state.reachedAt) paintFlag(painter, column(m_finish), finishText(state));
    painter.setFont(m_font);
}

// Before the words at the right of the box.
void RacePicture::paintFlag(QPainter& painter, const QRectF& box, const QString& words) const {
    const QFontMetricsF metrics(painter.font());
    const double high = metrics.ascent() * 0.9,
                 left = box.right() - metrics.horizontalAdvance(words) - kFlag * metrics.height();
    const QPointF top(left, box.center().y() - high / 2);
    painter.setPen(QPen(currentTheme().good, std::max(1.2, high / 9), Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(top, top + QPointF(0, high));
    painter.setPen(Qt::NoPen);
    painter.setBrush(currentTheme().good);
    painter.drawPolygon(QPolygonF{top, top + QPointF(high * 0.75, high * 0.28), top + QPointF(0, high * 0.56)});
}

void RacePicture::paintName(QPainter& painter, const QRectF& box, std::size_t place) const {
    const Theme& theme = currentTheme();
    const RaceLook::Lane& lane = m_look.lanes[m_player.standing()[place].runner];
    const QFontMetricsF metrics(painter.font());
    const double mark = metrics.height() * 1.2;
    paintMark(painter, {box.left() + mark / 2 - 1, box.center().y()}, lane);
    const QRectF words = box.adjusted(mark, 0, 0, 0);
    write(painter, words, Qt::AlignLeft, theme.text, lane.name);
    const double taken = metrics.horizontalAdvance(lane.name) + metrics.height() / 2;
    painter.setFont(m_font);
    if (words.width() - taken > 3 * metrics.height())
        write(painter, words.adjusted(taken, 0, 0, 0), Qt::AlignLeft, theme.muted, lane.words);
}

void RacePicture::paintMark(QPainter& painter, QPointF at, const RaceLook::Lane& lane) const {
    const double radius = QFontMetricsF(m_font).height() * 0.27;
    const bool isFilled = lane.place && seriesMarker(*lane.place) != Marker::Cross;
    painter.setPen(QPen(lane.place ? lane.color : currentTheme().outline, std::max(lane.place ? 2 : 1.2, radius / 4)));
    painter.setBrush(isFilled ? QBrush(lane.color) : QBrush(Qt::NoBrush));
    painter.drawPath(markerPath(lane.place ? seriesMarker(*lane.place) : Marker::Circle, at, radius));
}

void RacePicture::paintBar(QPainter& painter, const QRectF& lane, std::size_t runner) const {
    const double high = std::max(3.0, lane.height() * 0.46), round = std::min(4.0, high / 3);
    const QRectF track(lane.left(), lane.center().y() - high / 2, lane.width(), high);
    const QColor color = m_look.lanes[runner].color;
    painter.setPen(Qt::NoPen);
    painter.setBrush(faint(currentTheme().grid, 0.8));
    painter.drawRoundedRect(track, round, round);
    const auto fill = [&](double progress, const QColor& with) {
        if (progress <= 0) return;
        painter.setBrush(with);
        painter.drawRoundedRect(QRectF(track.topLeft(), QSizeF(progress * track.width(), high)), round, round);
    };
    fill(m_drawn[runner].best, faint(color, kFaint));
    fill(m_drawn[runner].value, color);
}

}  // namespace lockstep::ui
