#include "ui/compare/progress_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/plot/chart_frame.h"
#include "ui/plot/dot_stamp.h"
#include "ui/plot/plot_marks.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr double kDot = 3, kReach = 12;  // pixels

}  // namespace

struct ProgressView::Frame {
    ChartFrame chart;
    const CompareAxis& objective;
};

ProgressView::ProgressView(TrialSelection* selection, QWidget* parent) : CompareView(selection, parent) {
    setObjectName("progressView");
    setMinimumHeight(180);
}

void ProgressView::sceneChanged() {
    const CompareTable& table = *scene()->table;
    m_best.assign(table.trials.size(), std::numeric_limits<double>::quiet_NaN());
    if (table.objective) {
        const CompareAxis& objective = table.axes[*table.objective];
        double best = std::numeric_limits<double>::quiet_NaN();
        for (std::size_t row = 0; row < m_best.size(); ++row) {
            const double value = objective.values[row];
            const bool isBetter = objective.better == Better::Lower ? value < best : value > best;
            if (std::isfinite(value) && (!std::isfinite(best) || isBetter)) best = value;
            m_best[row] = best;
        }
    }
    update();
    emit wordsChanged();
}

QString ProgressView::emptyText() const { return scene()->table->whyNoValues(); }

QString ProgressView::summary() const {
    const CompareTable& table = *scene()->table;
    if (!table.objective || m_best.empty()) return {};
    const CompareAxis& objective = table.axes[*table.objective];
    std::size_t last = 0;  // that was better than all before
    for (std::size_t row = 1; row < m_best.size(); ++row)
        if (std::isfinite(m_best[row]) && m_best[row] != m_best[row - 1]) last = row;
    return tr("%1 over %2 trials: the best is %3, of trial %4; %5 trials since have not been better.")
        .arg(objective.name)
        .arg(m_best.size())
        .arg(objective.text(m_best.back()))
        .arg(table.trials[last].trial)
        .arg(m_best.size() - 1 - last);
}

QByteArray ProgressView::csv() const {
    const CompareTable& table = *scene()->table;
    QString text = "trial,value,best_so_far\r\n";
    for (std::size_t row = 0; row < m_best.size(); ++row) {
        const auto number = [](double value) {
            return std::isfinite(value) ? QString::number(value, 'g', 17) : QString();
        };
        const double value = table.objective ? table.axes[*table.objective].values[row] : std::nan("");
        text += QString("%1,%2,%3\r\n").arg(table.trials[row].trial).arg(number(value), number(m_best[row]));
    }
    return text.toUtf8();
}

ProgressView::Frame ProgressView::frameIn(const QRectF& area) const {
    const CompareTable& table = *scene()->table;
    const CompareAxis& objective = table.axes[*table.objective];
    const double first = static_cast<double>(table.trials.front().trial);
    const double last = static_cast<double>(table.trials.back().trial);
    const int across = std::max(3, static_cast<int>(area.width() / 80)), up = static_cast<int>(area.height() / 30);
    return {ChartFrame(area, {chartScale(first, last, false, across), tr("Trial"), nullptr},
                       {chartScale(objective.low, objective.high, false, up), objective.name,
                        [&objective](double value) { return objective.text(value); }},
                       font()),
            objective};
}

void ProgressView::paintTrial(QPainter& painter, const Frame& frame, std::size_t row, bool isLit) const {
    const double value = frame.objective.values[row];
    if (!std::isfinite(value)) return;
    const Theme& theme = currentTheme();
    const ComparedTrial& trial = scene()->table->trials[row];
    const QPointF at = frame.chart.at(static_cast<double>(trial.trial), value);
    const auto place = selection().placeOf(trial.trial);
    QColor color = place ? seriesColor(*place, theme) : theme.accent;
    if (!scene()->passes[row] && !place) color = theme.grid;
    const QPen outline = isLit ? QPen(theme.text, 1.5) : QPen(Qt::NoPen);
    if (place) return paintMarker(painter, seriesMarker(*place), at, 2 * kDot, color, outline);
    painter.setPen(outline);
    painter.setBrush(color);
    painter.drawEllipse(at, kDot + (isLit ? 2 : 0), kDot + (isLit ? 2 : 0));
}

void ProgressView::paintPicture(QPainter& painter, const QRectF& area) const {
    const CompareTable& table = *scene()->table;
    if (!table.objective || table.trials.empty()) return;
    const Frame frame = frameIn(area);
    frame.chart.paint(painter);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    QPolygonF line;
    for (std::size_t row = 0; row < m_best.size(); ++row) {
        if (!std::isfinite(m_best[row])) continue;
        const double x = static_cast<double>(table.trials[row].trial);
        if (!line.isEmpty()) line << QPointF(frame.chart.at(x, m_best[row]).x(), line.back().y());
        line << frame.chart.at(x, m_best[row]);
    }
    painter.setPen(QPen(currentTheme().good, 2));
    painter.drawPolyline(line);
    const DotStamp passing(painter, kDot, currentTheme().accent), others(painter, kDot, currentTheme().grid);
    for (std::size_t row = 0; row < m_best.size(); ++row) {
        const double value = frame.objective.values[row];
        if (!std::isfinite(value) || isPinned(row)) continue;
        (scene()->passes[row] ? passing : others)
            .paint(frame.chart.at(static_cast<double>(table.trials[row].trial), value));
    }
    for (std::size_t row = 0; row < m_best.size(); ++row)
        if (isPinned(row)) paintTrial(painter, frame, row, false);
    painter.restore();
}

void ProgressView::paintEvent(QPaintEvent*) {
    if (!scene() || !scene()->table->objective || scene()->table->trials.empty()) return;
    QPainter painter(this);
    paintPicture(painter, rect());
    const auto row = hoveredRow();
    if (!row) return;
    painter.setRenderHint(QPainter::Antialiasing);
    paintTrial(painter, frameIn(rect()), *row, true);
}

std::optional<std::size_t> ProgressView::rowAt(QPointF at) const {
    const CompareTable& table = *scene()->table;
    if (!table.objective || table.trials.empty()) return std::nullopt;
    const Frame frame = frameIn(rect());
    std::optional<std::size_t> nearest;
    double least = kReach;
    for (std::size_t row = 0; row < table.trials.size(); ++row) {
        const double value = frame.objective.values[row];
        if (!std::isfinite(value)) continue;
        const QPointF away = frame.chart.at(static_cast<double>(table.trials[row].trial), value) - at;
        const double distance = std::hypot(away.x(), away.y());
        if (distance < least) least = distance, nearest = row;
    }
    return nearest;
}

void ProgressView::mouseMoveEvent(QMouseEvent* event) {
    if (!scene()) return;
    const auto row = rowAt(event->position());
    hover(row);
    if (!row) return setToolTip({});
    const CompareTable& table = *scene()->table;
    setToolTip(tr("%1\n%2\n%3")
                   .arg(table.trials[*row].name, table.trials[*row].words, table.axes[*table.objective].cell(*row)));
}

void ProgressView::mousePressEvent(QMouseEvent* event) {
    if (!scene() || event->button() != Qt::LeftButton) return;
    if (const auto row = rowAt(event->position())) togglePin(*row);
}

void ProgressView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const auto row = scene() ? rowAt(event->position()) : std::nullopt) openClicked(*row);
}

}  // namespace lockstep::ui
