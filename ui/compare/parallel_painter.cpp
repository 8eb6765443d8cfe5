#include "ui/compare/parallel_painter.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <map>

#include "ui/plot/color_ramp.h"
#include "ui/plot/plot_marks.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

struct ParallelPainterText {
    Q_DECLARE_TR_FUNCTIONS(ParallelPainterText)
};

constexpr double kTickLength = 4, kWordGap = 7, kRampWidth = 5;  // pixels
constexpr double kLeastWords = 18;                               // room below which words say nothing
constexpr double kPerTick = 52;
constexpr int kMostCrosses = 5;
constexpr double kPinnedWidth = 2.2, kPinnedMarker = 4.5, kPinnedApart = 8;  // pixels
constexpr double kPinnedDash = 5;                                            // widths of the line

// Of what stands beside axes, where there is little room.
QFont smaller(QFont font) {
    constexpr double kSmaller = 0.88;
    if (font.pointSizeF() > 0) font.setPointSizeF(kSmaller * font.pointSizeF());
    else font.setPixelSize(std::max(1, qRound(kSmaller * font.pixelSize())));
    return font;
}

float placeOfSlot(Absence absence) { return -static_cast<float>(absence); }

}  // namespace

QString titleText(const ParallelAxis& axis) {
    return axis.axis().name + (axis.isFlipped() ? QStringLiteral(" ↓") : QStringLiteral(" ↑"));
}

ParallelPainter::ParallelPainter(QPainter& painter, const ParallelPlot& plot, const QFont& font)
    : m_painter(painter),
      m_plot(plot),
      m_layout(plot.layout),
      m_font(font),
      m_small(smaller(font)),
      m_metrics(font),
      m_smallMetrics(m_small) {}

std::optional<std::size_t> ParallelPainter::objective() const {
    const auto wanted = m_plot.scene->table->objective;
    for (std::size_t i = 0; i < m_plot.axes.size(); ++i)
        if (m_plot.axes[i].index() == wanted) return i;
    return std::nullopt;
}

void ParallelPainter::paintWords(const QString& words, QPointF at, double room, bool isLeft,
                                 const QColor& color) const {
    if (room < kLeastWords) return;
    const QString text = m_smallMetrics.elidedText(words, Qt::ElideRight, room);
    const double width = m_smallMetrics.horizontalAdvance(text), height = m_smallMetrics.height();
    const QRectF box(isLeft ? at.x() - width : at.x(), at.y() - height / 2, width, height);
    QColor ground = currentTheme().surface;
    ground.setAlphaF(0.86f);
    m_painter.fillRect(box.adjusted(-2, 1, 2, -1), ground);
    m_painter.setFont(m_small);
    m_painter.setPen(color);
    m_painter.drawText(box.adjusted(-1, 0, 1, 0), Qt::AlignCenter, text);
}

void ParallelPainter::paintTicks(std::size_t at) const {
    const ParallelAxis& axis = m_plot.axes[at];
    const double x = m_layout.x[at],
                 room = std::min(m_layout.gap(), at == 0 ? x - m_layout.area.left() : 1e9) - kWordGap - 6;
    const auto ticks = axis.ticks(static_cast<int>(m_layout.plot.height() / kPerTick));
    double lowest = 1e9;  // of the words before: choices may stand closer than a line of words is high
    for (auto tick = ticks.begin(); tick != ticks.end(); ++tick) {
        const double y = m_layout.y(static_cast<float>(tick->place));
        m_painter.setPen(QPen(currentTheme().outline, 1));
        m_painter.drawLine(QPointF(x - kTickLength, y), QPointF(x, y));
        if (std::abs(lowest - y) < m_smallMetrics.height() - 2) continue;
        const bool isCut = !axis.axis().isChoice() && m_smallMetrics.horizontalAdvance(tick->text) > room;
        if (isCut) continue;
        paintWords(tick->text, {x - kWordGap, y}, room, true, currentTheme().muted);
        lowest = y;
    }
}

void ParallelPainter::paintTitle(std::size_t at) const {
    const QRectF room = m_layout.titleRoom(at);
    const ParallelAxis& axis = m_plot.axes[at];
    const QString arrow = axis.isFlipped() ? QStringLiteral(" ↓") : QStringLiteral(" ↑");
    const double arrowWidth = m_metrics.horizontalAdvance(arrow);
    const QString name = m_metrics.elidedText(axis.axis().name, Qt::ElideRight, room.width() - arrowWidth);
    const double nameWidth = m_metrics.horizontalAdvance(name), width = nameWidth + arrowWidth;
    const double left =
        std::clamp(m_layout.x[at] - width / 2, room.left(), std::max(room.right() - width, room.left()));
    m_painter.setFont(m_font);
    const double baseline = room.bottom() - m_metrics.descent() - 1;
    m_painter.setPen(m_plot.scene->table->objective == axis.index() ? currentTheme().accent : currentTheme().text);
    m_painter.drawText(QPointF(left, baseline), name);
    m_painter.setPen(currentTheme().muted);
    m_painter.drawText(QPointF(left + nameWidth, baseline), arrow);
}

// The rows have their names at the left, the slots their counts.
void ParallelPainter::paintSlots(std::size_t at) const {
    const ParallelAxis& axis = m_plot.axes[at];
    const QColor color = currentTheme().muted;
    for (const Absence absence : m_layout.slotRows) {
        const QPointF place(m_layout.x[at], m_layout.y(placeOfSlot(absence)));
        const double left = m_layout.area.left();
        if (at == 0) paintWords(absenceText(absence), {left, place.y()}, place.x() - left - kWordGap, false, color);
        if (axis.count(absence) == 0) continue;
        m_painter.setPen(QPen(currentTheme().outline, 1));
        m_painter.setBrush(currentTheme().surface);
        m_painter.drawEllipse(place, 3, 3);
        const QString count = QString::number(axis.count(absence));
        if (at > 0) paintWords(count, place - QPointF(kWordGap, 0), m_layout.gap() - kWordGap - 4, true, color);
    }
}

// What the colours mean: the ramp beside the objective, as the trials lie there.
void ParallelPainter::paintRamp(std::size_t at) const {
    const ParallelAxis& axis = m_plot.axes[at];
    std::vector<std::pair<double, double>> trials;  // place, goodness
    for (std::size_t row = 0; row < axis.places().size(); ++row)
        if (axis.places()[row] >= 0) trials.emplace_back(axis.places()[row], m_plot.goodness[row]);
    std::ranges::sort(trials);
    if (trials.size() < 2) return;
    const double x = m_layout.x[at] + 2;
    std::size_t next = 0;
    for (double y = m_layout.plot.bottom(); y > m_layout.plot.top(); y -= 1) {
        const double place = m_layout.placeAt(y - 0.5);
        while (next + 1 < trials.size() && trials[next + 1].first <= place) ++next;
        if (place < trials.front().first - 0.01 || place > trials.back().first + 0.01) continue;
        m_painter.fillRect(QRectF(x, y - 1, kRampWidth, 1), rampColor(trials[next].second, currentTheme()));
    }
}

void ParallelPainter::paintAxes() const {
    m_painter.save();
    for (std::size_t i = 0; i < m_plot.axes.size(); ++i) {
        m_painter.setRenderHint(QPainter::Antialiasing, false);
        m_painter.setPen(QPen(currentTheme().outline, 1));
        m_painter.drawLine(QPointF(m_layout.x[i], m_layout.plot.top()), QPointF(m_layout.x[i], m_layout.plot.bottom()));
        if (objective() == i) paintRamp(i);
        paintTicks(i);
        m_painter.setRenderHint(QPainter::Antialiasing);
        paintSlots(i);
        paintTitle(i);
    }
    m_painter.restore();
}

void ParallelPainter::paintBrushes(const Brushes& brushes) const {
    m_painter.save();
    m_painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = currentTheme();
    QColor within = theme.accent;
    within.setAlphaF(theme.dark ? 0.35f : 0.25f);
    m_painter.setPen(QPen(theme.accent, 1.5));
    m_painter.setBrush(within);
    for (std::size_t i = 0; i < m_plot.axes.size(); ++i) {
        const ParallelAxis& axis = m_plot.axes[i];
        const auto brush = brushes.find(axis.axis().key);
        if (brush == brushes.end()) continue;
        for (const AxisPiece& piece : axis.pieces(brush->second))
            m_painter.drawRoundedRect(m_layout.brush(i, m_layout.seen(axis, piece)), 2, 2);
        for (const Absence absence : brush->second.without) {
            const QPointF place(m_layout.x[i], m_layout.y(placeOfSlot(absence)));
            m_painter.drawEllipse(place, 6, 6);
        }
    }
    m_painter.restore();
}

void ParallelPainter::paintCrosses(std::size_t at) const {
    for (const Absence absence : {Absence::Failed, Absence::Diverged}) {
        const float slot = placeOfSlot(absence);
        int count = 0;
        for (std::size_t row = 0; row < m_plot.scene->passes.size(); ++row)
            count += m_plot.scene->passes[row] && m_plot.axes[at].places()[row] == slot;
        const QPointF first(m_layout.x[at] + 12, m_layout.y(slot));
        m_painter.setPen(QPen(currentTheme().bad, 1.6));
        for (int i = 0; i < std::min(count, kMostCrosses); ++i) {
            const QPointF middle = first + QPointF(10 * i, 0);
            m_painter.drawLine(middle + QPointF(-3, -3), middle + QPointF(3, 3));
            m_painter.drawLine(middle + QPointF(-3, 3), middle + QPointF(3, -3));
        }
    }
}

// The best first; where two would stand over each other, the better one does.
void ParallelPainter::paintEpochs(std::size_t at) const {
    const auto& trials = m_plot.scene->table->trials;
    const auto& places = m_plot.axes[at].places();
    std::vector<double> taken;
    for (auto row = m_plot.drawOrder.rbegin(); row != m_plot.drawOrder.rend(); ++row) {
        if (!trials[*row].isCutShort || !m_plot.scene->passes[*row] || places[*row] < 0) continue;
        const QPointF end(m_layout.x[at], m_layout.y(places[*row]));
        const bool isFree =
            std::ranges::none_of(taken, [&](double y) { return std::abs(y - end.y()) < m_smallMetrics.height(); });
        if (!isFree) continue;
        taken.push_back(end.y());
        m_painter.setPen(QPen(currentTheme().muted, 1.2));
        m_painter.setBrush(currentTheme().surface);
        m_painter.drawEllipse(end, 3, 3);
        paintWords(ParallelPainterText::tr("ep. %1").arg(trials[*row].epoch), end + QPointF(kRampWidth + kWordGap, 0),
                   m_layout.area.right() - end.x() - kRampWidth - kWordGap, false, currentTheme().muted);
    }
}

void ParallelPainter::paintMarks() const {
    const auto at = objective();
    if (!at) return;
    m_painter.save();
    m_painter.setRenderHint(QPainter::Antialiasing);
    paintEpochs(*at);
    paintCrosses(*at);
    m_painter.restore();
}

QPointF ParallelPainter::placeOf(std::size_t row, std::size_t axis) const {
    return {m_layout.x[axis], m_layout.y(m_plot.axes[axis].places()[row])};
}

void ParallelPainter::paintPinned(const std::vector<Pinned>& pinned) const {
    m_painter.save();
    m_painter.setRenderHint(QPainter::Antialiasing);
    for (std::size_t gap = 0; gap + 1 < m_plot.axes.size(); ++gap) paintPinnedGap(pinned, gap);
    for (std::size_t axis = 0; axis < m_plot.axes.size(); ++axis) {
        std::map<double, int> before;  // those that stand at the same height
        for (const Pinned& each : pinned) {
            const QPointF at = placeOf(each.row, axis);
            paintMarker(m_painter, each.marker, at + QPointF(kPinnedApart * before[at.y()]++, 0), kPinnedMarker,
                        each.color, QPen(currentTheme().surface, 1));
        }
    }
    m_painter.restore();
}

void ParallelPainter::paintPinnedGap(const std::vector<Pinned>& pinned, std::size_t gap) const {
    std::map<std::pair<double, double>, std::vector<const Pinned*>> ways;
    for (const Pinned& each : pinned)
        ways[{placeOf(each.row, gap).y(), placeOf(each.row, gap + 1).y()}].push_back(&each);
    for (const auto& [ends, together] : ways) {
        const QLineF line(m_layout.x[gap], ends.first, m_layout.x[gap + 1], ends.second);
        m_painter.setPen(QPen(currentTheme().surface, kPinnedWidth + 2.5, Qt::SolidLine, Qt::RoundCap));
        m_painter.drawLine(line);
        for (std::size_t turn = 0; turn < together.size(); ++turn) {
            const bool isDashed = m_plot.scene->table->trials[together[turn]->row].isCutShort;
            QPen pen(together[turn]->color, kPinnedWidth, isDashed ? Qt::DashLine : Qt::SolidLine, Qt::FlatCap);
            if (together.size() > 1) {
                const double dash = isDashed ? kPinnedDash / 2 : kPinnedDash, whole = kPinnedDash * together.size();
                pen.setDashPattern({dash, whole - dash});
                pen.setDashOffset(-kPinnedDash * static_cast<double>(turn));
            }
            m_painter.setPen(pen);
            m_painter.drawLine(line);
        }
    }
}

void ParallelPainter::paintTrial(std::size_t row, const QColor& color, double width) const {
    m_painter.save();
    m_painter.setRenderHint(QPainter::Antialiasing);
    const bool isDashed = m_plot.scene->table->trials[row].isCutShort;
    const auto at = [&](std::size_t axis) { return placeOf(row, axis); };
    // Line by line: a polyline that is wide is several times as slow.
    const auto draw = [&](const QPen& pen) {
        m_painter.setPen(pen);
        for (std::size_t i = 1; i < m_plot.axes.size(); ++i) m_painter.drawLine(at(i - 1), at(i));
    };
    draw(QPen(currentTheme().surface, width + 2.5, Qt::SolidLine, Qt::RoundCap));
    draw(QPen(color, width, isDashed ? Qt::DashLine : Qt::SolidLine, isDashed ? Qt::FlatCap : Qt::RoundCap));
    m_painter.setPen(QPen(currentTheme().surface, 1));
    m_painter.setBrush(color);
    for (std::size_t i = 0; i < m_plot.axes.size(); ++i) m_painter.drawEllipse(at(i), 3.5, 3.5);
    m_painter.restore();
}

void ParallelPainter::paintValues(std::size_t row) const {
    m_painter.save();
    for (std::size_t i = 0; i < m_plot.axes.size(); ++i) {
        const bool isLast = i + 1 == m_plot.axes.size();
        const double room = isLast ? m_layout.area.right() - m_layout.x[i] : m_layout.gap();
        const QPointF place(m_layout.x[i] + kWordGap + (isLast ? kRampWidth : 0),
                            m_layout.y(m_plot.axes[i].places()[row]));
        const QString text = m_plot.axes[i].shortText(row, m_smallMetrics, room - kWordGap - 6);
        paintWords(text, place, room - kWordGap - 6, false, currentTheme().text);
    }
    m_painter.restore();
}

}  // namespace lockstep::ui
