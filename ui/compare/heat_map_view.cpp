#include "ui/compare/heat_map_view.h"

#include <QHBoxLayout>
#include <QMouseEvent>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <ranges>

#include "ui/compare/axis_box.h"
#include "ui/compare/axis_frame.h"
#include "ui/plot/color_ramp.h"
#include "ui/plot/csv_field.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

QString spanText(std::int64_t low, std::int64_t high) {
    return low == high ? QString::number(low) : QString("%1 – %2").arg(low).arg(high);
}

}  // namespace

HeatMapView::HeatMapView(TrialSelection* selection, QWidget* parent)
    : CompareView(selection, parent),
      m_x(new AxisBox("heatX", tr("Across"))),
      m_y(new AxisBox("heatY", tr("Upwards"))) {
    setObjectName("heatMapView");
    setMinimumHeight(260);
    auto* line = new QHBoxLayout;
    for (AxisBox* each : {m_x, m_y}) {
        line->addWidget(each, 1);
        connect(each, &QComboBox::activated, this, &HeatMapView::redraw);
    }
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addLayout(line);
    column->addStretch(1);
}

void HeatMapView::sceneChanged() {
    const auto settings = settingsByImportance(*scene());
    const auto nth = [&](std::size_t n) {
        return settings.size() > n ? std::optional(settings[n]) : std::optional<std::size_t>();
    };
    m_x->offer(scene()->table, nth(0));
    m_y->offer(scene()->table, nth(1));
    redraw();
}

void HeatMapView::redraw() {
    const CompareTable& table = *scene()->table;
    const auto x = m_x->axis(), y = m_y->axis();
    m_map = {};
    if (table.objective && x && y)
        m_map = heatMap(*scene(), table.axes[*x], table.axes[*y], table.axes[*table.objective]);
    update();
    emit wordsChanged();
}

QString HeatMapView::emptyText() const {
    const CompareTable& table = *scene()->table;
    if (!table.objective) return tr("No trial has been evaluated yet.");
    const auto settings = std::ranges::count(table.axes, true, &CompareAxis::isSetting);
    return settings < 2 ? tr("It takes two settings that differ; these trials differ in %1.").arg(settings) : QString();
}

QString HeatMapView::words(Place at) const {
    const CompareTable& table = *scene()->table;
    const auto& cell = m_map.at(at.x, at.y);
    const QString where =
        tr("%1 %2, %3 %4")
            .arg(m_x->currentText(), m_map.x.bins[at.x].name, m_y->currentText(), m_map.y.bins[at.y].name);
    if (cell.rows.empty()) return tr("%1: no trial").arg(where);
    QString said =
        tr("%1: %2 on average (n %3)").arg(where, table.axes[*table.objective].text(cell.mean)).arg(cell.rows.size());
    const auto epochOf = [&](std::size_t row) { return table.trials[row].epoch; };
    const auto [fewest, most] = std::ranges::minmax(cell.rows | std::views::transform(epochOf));
    if (m_map.fewestEpochs < m_map.mostEpochs) said += tr(", after %1 epochs").arg(spanText(fewest, most));
    return said;
}

// Of trials that were cut short at unlike lengths the colours say so.
QString HeatMapView::meaning() const {
    const QString& objective = scene()->table->axes[*scene()->table->objective].name;
    if (m_map.fewestEpochs == m_map.mostEpochs) return tr("Mean of %1").arg(objective);
    return tr("After %1 epochs: mean of %2").arg(spanText(m_map.fewestEpochs, m_map.mostEpochs), objective);
}

QString HeatMapView::summary() const {
    std::optional<Place> best;
    const CompareTable& table = *scene()->table;
    if (!table.objective) return {};
    const bool isLess = table.axes[*table.objective].better == Better::Lower;
    for (std::size_t y = 0; y < m_map.y.bins.size(); ++y)
        for (std::size_t x = 0; x < m_map.x.bins.size(); ++x) {
            const double mean = m_map.at(x, y).mean;
            if (!std::isfinite(mean)) continue;
            const double before = best ? m_map.at(best->x, best->y).mean : mean;
            if (!best || (isLess ? mean < before : mean > before)) best = Place{x, y};
        }
    return best ? tr("%1. The best of %2 by %3 cells: %4.")
                      .arg(meaning())
                      .arg(m_map.x.bins.size())
                      .arg(m_map.y.bins.size())
                      .arg(words(*best))
                : tr("No trial of these has a value.");
}

QByteArray HeatMapView::csv() const {
    const auto key = [](const AxisBox& box) { return csvField(QString::fromStdString(box.key())); };
    QString text = key(*m_x) + ',' + key(*m_y) + ",mean,count\r\n";
    for (std::size_t y = 0; y < m_map.y.bins.size(); ++y)
        for (std::size_t x = 0; x < m_map.x.bins.size(); ++x) {
            const auto& cell = m_map.at(x, y);
            const QString mean = cell.rows.empty() ? QString() : QString::number(cell.mean, 'g', 17);
            text += csvField(m_map.x.bins[x].name) + ',' + csvField(m_map.y.bins[y].name) + ',' + mean + ',' +
                    QString::number(cell.rows.size()) + "\r\n";
        }
    return text.toUtf8();
}

QRectF HeatMapView::canvas() const { return QRectF(rect()).adjusted(0, m_x->height() + space::kMedium, 0, 0); }

double HeatMapView::nameWidth() const {
    double widest = 0;
    for (const auto& bin : m_map.y.bins) widest = std::max(widest, QFontMetricsF(font()).horizontalAdvance(bin.name));
    return std::min(widest, width() * 0.35);
}

// Names stand to the left and below, what colours mean above.
QRectF HeatMapView::cells(const QRectF& area) const {
    const double line = QFontMetricsF(font()).height();
    return area.adjusted(nameWidth() + space::kMedium + line, line + space::kSmall, -1, -2 * line - space::kMedium);
}

QRectF HeatMapView::cellAt(const QRectF& cells, Place at) const {
    const double width = cells.width() / static_cast<double>(m_map.x.bins.size());
    const double height = cells.height() / static_cast<double>(m_map.y.bins.size());
    return {cells.left() + width * static_cast<double>(at.x), cells.bottom() - height * static_cast<double>(at.y + 1),
            width, height};
}

std::optional<HeatMapView::Place> HeatMapView::placeAt(QPointF at) const {
    const QRectF all = cells(canvas());
    if (m_map.cells.empty() || !all.contains(at)) return std::nullopt;
    const auto part = [](double share, std::size_t count) {
        return std::min(static_cast<std::size_t>(share * static_cast<double>(count)), count - 1);
    };
    return Place{part((at.x() - all.left()) / all.width(), m_map.x.bins.size()),
                 part((all.bottom() - at.y()) / all.height(), m_map.y.bins.size())};
}

QColor HeatMapView::cellColor(double mean) const {
    const bool isLess = scene()->table->axes[*scene()->table->objective].better == Better::Lower;
    const double share = m_map.high > m_map.low ? (mean - m_map.low) / (m_map.high - m_map.low) : 1;
    return rampColor(isLess ? 1 - share : share, currentTheme());
}

void HeatMapView::paintCell(QPainter& painter, const QRectF& box, Place at) const {
    const auto& cell = m_map.at(at.x, at.y);
    const QRectF inner = box.adjusted(0.5, 0.5, -0.5, -0.5);
    if (cell.rows.empty()) return painter.fillRect(inner, QBrush(currentTheme().grid, Qt::BDiagPattern));
    const QColor color = cellColor(cell.mean);
    painter.fillRect(inner, color);
    const QString text = scene()->table->axes[*scene()->table->objective].text(cell.mean);
    if (QFontMetricsF(font()).horizontalAdvance(text) + 4 > box.width() ||
        QFontMetricsF(font()).height() > box.height())
        return;
    painter.setPen(color.lightnessF() > 0.45F ? Qt::black : Qt::white);
    painter.drawText(box, Qt::AlignCenter, text);
}

void HeatMapView::paintNames(QPainter& painter, const QRectF& area, const QRectF& cells) const {
    const QFontMetricsF metrics(font());
    painter.setPen(currentTheme().muted);
    const double left = area.left() + metrics.height();
    for (std::size_t y = 0; y < m_map.y.bins.size(); ++y) {
        const QRectF cell = cellAt(cells, {0, y});
        const QRectF box(left, cell.center().y() - metrics.height() / 2, cells.left() - left - space::kSmall,
                         metrics.height());
        painter.drawText(box, Qt::AlignRight | Qt::AlignVCenter,
                         metrics.elidedText(m_map.y.bins[y].name, Qt::ElideMiddle, box.width()));
    }
    // Those that fit beside each other, evenly chosen.
    const double width = cells.width() / static_cast<double>(m_map.x.bins.size());
    double widest = 1;
    for (const auto& bin : m_map.x.bins)
        widest = std::max(widest, metrics.horizontalAdvance(bin.name) + space::kMedium);
    const auto step = static_cast<std::size_t>(std::ceil(std::min(widest, cells.width() / 2) / width));
    for (std::size_t x = 0; x < m_map.x.bins.size(); x += step) {
        const double room = width * static_cast<double>(step);
        const double from = std::clamp(cellAt(cells, {x, 0}).center().x() - room / 2, area.left(), area.right() - room);
        const QRectF box(from, cells.bottom() + 2, room, metrics.height());
        painter.drawText(box, Qt::AlignCenter, metrics.elidedText(m_map.x.bins[x].name, Qt::ElideRight, room));
    }
    painter.drawText(QRectF(cells.left(), area.bottom() - metrics.height(), cells.width(), metrics.height()),
                     Qt::AlignCenter, m_x->currentText());
    painter.save();
    painter.translate(area.left() + metrics.height() / 2, cells.center().y());
    painter.rotate(-90);
    painter.drawText(QRectF(-cells.height() / 2, -metrics.height() / 2, cells.height(), metrics.height()),
                     Qt::AlignCenter, m_y->currentText());
    painter.restore();
}

void HeatMapView::paintPicture(QPainter& painter, const QRectF& area) const {
    if (m_map.cells.empty()) return;
    const QRectF all = cells(area);
    painter.save();
    painter.setFont(font());
    for (std::size_t y = 0; y < m_map.y.bins.size(); ++y)
        for (std::size_t x = 0; x < m_map.x.bins.size(); ++x) paintCell(painter, cellAt(all, {x, y}), {x, y});
    paintNames(painter, area, all);
    const CompareAxis& objective = scene()->table->axes[*scene()->table->objective];
    const bool isLess = objective.better == Better::Lower;
    paintRamp(painter, QRectF(all.left(), area.top(), all.width(), QFontMetricsF(font()).height()), meaning(),
              objective.text(isLess ? m_map.high : m_map.low), objective.text(isLess ? m_map.low : m_map.high));
    painter.restore();
}

void HeatMapView::paintEvent(QPaintEvent*) {
    if (!scene() || m_map.cells.empty()) return;
    QPainter painter(this);
    paintPicture(painter, canvas());
    const auto row = hoveredRow();
    if (!row || !m_map.x.of[*row] || !m_map.y.of[*row]) return;
    painter.setPen(QPen(currentTheme().text, 2));
    painter.drawRect(cellAt(cells(canvas()), {*m_map.x.of[*row], *m_map.y.of[*row]}).adjusted(1, 1, -1, -1));
}

// The best trial of the cell stands for it.
void HeatMapView::mouseMoveEvent(QMouseEvent* event) {
    const auto at = scene() ? placeAt(event->position()) : std::nullopt;
    setToolTip(at ? words(*at) : QString());
    if (!at || m_map.at(at->x, at->y).rows.empty()) return hover(std::nullopt);
    const auto& rows = m_map.at(at->x, at->y).rows;
    hover(*std::ranges::min_element(rows, [&](auto a, auto b) { return scene()->table->isBetter(a, b); }));
}

void HeatMapView::mousePressEvent(QMouseEvent* event) {
    const auto at = scene() && event->button() == Qt::LeftButton ? placeAt(event->position()) : std::nullopt;
    if (!at || m_map.at(at->x, at->y).rows.empty()) return;
    const std::string x = m_x->key(), y = m_y->key();
    const AxisBrush across = m_map.x.bins[at->x].brush, upwards = m_map.y.bins[at->y].brush;
    selection().dragBrush(x, across);  // one step for both
    selection().brush(y, upwards);
}

}  // namespace lockstep::ui
