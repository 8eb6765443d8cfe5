#include "ui/compare/rung_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/compare/axis_frame.h"
#include "ui/history/sweep_words.h"
#include "ui/plot/chart_frame.h"
#include "ui/plot/color_ramp.h"
#include "ui/plot/csv_field.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr double kClimbDot = 4, kClimbReach = 9;  // pixels
constexpr std::size_t kFewClimbs = 6;             // whose dots hardly hide each other

}  // namespace

struct RungView::Frame {
    ChartFrame chart;
    const CompareAxis& objective;
    bool isCrowded = false;
    // Each cell has a lane of its own within the columns, the same in all, so that equal values lie beside each other.
    QPointF at(const Climb& climb, std::size_t rung) const {
        constexpr double kGolden = 0.6180339887498949, kPart = 0.5;  // kPart: of a column that the lanes take
        const double lane = std::fmod(kGolden * static_cast<double>(climb.cell), 1) - 0.5;
        return chart.at(static_cast<double>(rung) + (isCrowded ? kPart * lane : 0), climb.values[rung]);
    }
};

RungView::RungView(TrialSelection* selection, QWidget* parent) : CompareView(selection, parent) {
    setObjectName("rungView");
    setMinimumHeight(200);
}

void RungView::sceneChanged() {
    m_climbs.clear();
    m_epochs.clear();
    const auto& sweep = scene()->sweep;
    const auto rungs = sweep ? rungsOf(sweep->spec) : std::nullopt;
    const CompareTable& table = *scene()->table;
    if (rungs && table.objective) {
        m_epochs = rungs->epochs;
        const bool isLess = table.axes[*table.objective].better == Better::Lower;
        for (const Climber& each : sweep->climbers) {
            Climb climb{.cell = each.cell};
            for (const double loss : each.losses) climb.values.push_back(isLess ? loss : -loss);
            for (std::size_t row = 0; row < table.trials.size(); ++row) {
                if (table.trials[row].cell != each.cell) continue;
                climb.rows.push_back(row);
                climb.passes |= scene()->passes[row];
            }
            if (!climb.values.empty() && !climb.rows.empty()) m_climbs.push_back(std::move(climb));
        }
    }
    update();
    emit wordsChanged();
}

bool RungView::isOffered() const { return scene() && scene()->sweep && !scene()->sweep->spec.scheduler.empty(); }

QString RungView::emptyText() const {
    return m_climbs.empty() ? tr("No cell has come to its first rung yet.") : QString();
}

QString RungView::summary() const {
    if (!scene()->sweep) return {};
    QStringList words;
    for (std::size_t rung = 0; rung < m_epochs.size(); ++rung) {
        const RungCount count = countAt(scene()->sweep->climbers, rung);
        QString said = tr("After %1 epochs: %2 cells").arg(m_epochs[rung]).arg(count.cells);
        if (rung + 1 < m_epochs.size()) said += tr(", %1 went on").arg(count.wentOn);
        if (count.correlation)
            said += tr(", rank correlation with the next rung %1").arg(*count.correlation, 0, 'f', 2);
        words << said;
    }
    return words.join(". ") + '.';
}

QByteArray RungView::csv() const {
    QString text = "cell,rung,epochs,value\r\n";
    for (const Climb& climb : m_climbs)
        for (std::size_t rung = 0; rung < climb.values.size(); ++rung)
            text += QString("%1,%2,%3,%4\r\n")
                        .arg(climb.cell)
                        .arg(rung + 1)
                        .arg(m_epochs[rung])
                        .arg(QString::number(climb.values[rung], 'g', 17));
    return text.toUtf8();
}

RungView::Frame RungView::frameIn(const QRectF& area) const {
    const CompareAxis& objective = scene()->table->axes[*scene()->table->objective];
    double low = objective.high, high = objective.low;
    for (const Climb& climb : m_climbs)
        for (const double value : climb.values)
            if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
    ChartAxis across{
        .scale = {.low = -0.5, .high = static_cast<double>(m_epochs.size()) - 0.5, .isLog = false, .ticks = {}},
        .title = {},
        .words = [this](double rung) {
            const auto at = static_cast<std::size_t>(std::lround(rung));
            return m_epochs[at] == 1 ? tr("1 epoch") : tr("%1 epochs").arg(m_epochs[at]);
        }};
    for (std::size_t rung = 0; rung < m_epochs.size(); ++rung) across.scale.ticks.push_back(static_cast<double>(rung));
    return {ChartFrame(area, std::move(across),
                       {chartScale(low, high, false, std::max(3, static_cast<int>(area.height() / 36))), objective.name,
                        [&objective](double value) { return objective.text(value); }},
                       font()),
            objective, m_climbs.size() > kFewClimbs};
}

bool RungView::isOf(const Climb& climb, std::optional<std::size_t> row) const {
    return row && std::ranges::find(climb.rows, *row) != climb.rows.end();
}

void RungView::paintClimb(QPainter& painter, const Frame& frame, const Climb& climb, bool isLit) const {
    const Theme& theme = currentTheme();
    const auto pinned = std::ranges::find_if(climb.rows, [&](std::size_t row) { return isPinned(row); });
    QColor color = climb.passes ? rampColor(goodness(frame.objective, climb.values.back()), theme) : theme.grid;
    if (pinned != climb.rows.end()) color = colorOf(*pinned);
    QPolygonF line;
    for (std::size_t rung = 0; rung < climb.values.size(); ++rung)
        if (std::isfinite(climb.values[rung])) line << frame.at(climb, rung);
    painter.setPen(QPen(isLit ? theme.text : color, isLit ? 2 : 1.3));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(line);
    painter.setPen(isLit ? QPen(theme.text, 1.5) : Qt::NoPen);
    painter.setBrush(color);
    for (const QPointF& at : line) painter.drawEllipse(at, kClimbDot, kClimbDot);
}

void RungView::paintPicture(QPainter& painter, const QRectF& area) const {
    if (m_climbs.empty()) return;
    const Frame frame = frameIn(area);
    frame.chart.paint(painter);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    for (const bool passes : {false, true})
        for (const Climb& climb : m_climbs)
            if (climb.passes == passes) paintClimb(painter, frame, climb, false);
    painter.restore();
}

void RungView::paintEvent(QPaintEvent*) {
    if (!scene() || m_climbs.empty()) return;
    QPainter painter(this);
    paintPicture(painter, rect());
    painter.setRenderHint(QPainter::Antialiasing);
    const Frame frame = frameIn(rect());
    for (const Climb& climb : m_climbs)
        if (isOf(climb, hoveredRow())) paintClimb(painter, frame, climb, true);
}

const RungView::Climb* RungView::climbAt(QPointF at) const {
    if (!scene() || m_climbs.empty()) return nullptr;
    const Frame frame = frameIn(rect());
    const Climb* nearest = nullptr;
    double least = kClimbReach;
    for (const Climb& climb : m_climbs)
        for (std::size_t rung = 0; rung < climb.values.size(); ++rung) {
            if (!std::isfinite(climb.values[rung])) continue;
            const QPointF away = frame.at(climb, rung) - at;
            const double distance = std::hypot(away.x(), away.y());
            if (distance < least) least = distance, nearest = &climb;
        }
    return nearest;
}

void RungView::mouseMoveEvent(QMouseEvent* event) {
    const Climb* climb = climbAt(event->position());
    if (!climb) {
        setToolTip({});
        return hover(std::nullopt);
    }
    hover(climb->rows.front());
    const auto& cells = scene()->sweep->cells;
    const auto cell = std::ranges::find(cells, climb->cell, &CellResult::number);
    if (cell == cells.end()) return;
    const QString stop = rungStopText(*scene()->sweep, *cell);
    setToolTip(stop.isEmpty() ? cellText(cell->settings) : cellText(cell->settings) + '\n' + stop);
}

void RungView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const Climb* climb = climbAt(event->position())) togglePin(climb->rows.front());
}

}  // namespace lockstep::ui
