#include "ui/compare/scatter_view.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "ui/compare/axis_box.h"
#include "ui/compare/axis_frame.h"
#include "ui/compare/pareto.h"
#include "ui/plot/color_ramp.h"
#include "ui/plot/csv_field.h"
#include "ui/plot/plot_marks.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr double kDotRadius = 3.5, kDotReach = 10, kLeastDrag = 6;  // pixels

// Of choices, which would lie on one another, each row has its place beside the others.
double jitter(std::size_t row) {
    const auto mixed = (row * 2654435761u) % 1000;
    return (static_cast<double>(mixed) / 1000 - 0.5) * 0.4;
}

}  // namespace

ScatterView::ScatterView(TrialSelection* selection, QWidget* parent)
    : CompareView(selection, parent),
      m_x(new AxisBox("scatterX", tr("Across"))),
      m_y(new AxisBox("scatterY", tr("Upwards"))),
      m_color(new AxisBox("scatterColor", tr("Colour"), tr("No colour"))),
      m_pareto(new QToolButton) {
    setObjectName("scatterView");
    setMinimumHeight(260);
    m_pareto->setText(tr("Front"));
    m_pareto->setCheckable(true);
    m_pareto->setObjectName("scatterFront");
    m_pareto->setToolTip(
        tr("Join the trials that no other beats in both: those of the Pareto front. Of settings less is better"));
    connect(m_pareto, &QToolButton::toggled, this, &ScatterView::redraw);
    auto* line = new QHBoxLayout;
    for (AxisBox* each : {m_x, m_y, m_color}) {
        line->addWidget(each, 1);
        connect(each, &QComboBox::activated, this, &ScatterView::redraw);
    }
    line->addWidget(m_pareto);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addLayout(line);
    column->addStretch(1);
}

void ScatterView::sceneChanged() {
    const CompareTable& table = *scene()->table;
    const auto settings = settingsByImportance(*scene());
    const auto first = settings.empty() ? std::optional<std::size_t>() : settings.front();
    m_x->offer(scene()->table, first);
    m_y->offer(scene()->table, table.objective);
    m_color->offer(scene()->table, table.objective);
    redraw();
}

void ScatterView::redraw() {
    m_shownOf = scene()->table;
    m_shownX = m_x->axis(), m_shownY = m_y->axis(), m_shownColor = m_color->axis();
    m_picture = {};
    update();
    emit wordsChanged();
}

void ScatterView::resizeEvent(QResizeEvent* event) {
    CompareView::resizeEvent(event);
    m_picture = {};
}

// Another theme, another font.
void ScatterView::changeEvent(QEvent* event) {
    CompareView::changeEvent(event);
    m_picture = {};
    update();
}

std::optional<ScatterView::Axes> ScatterView::axes() const {
    if (!scene() || scene()->table != m_shownOf || !m_shownX || !m_shownY) return std::nullopt;
    const auto& axes = scene()->table->axes;
    return Axes{axes[*m_shownX], axes[*m_shownY], m_shownColor ? &axes[*m_shownColor] : nullptr};
}

QString ScatterView::emptyText() const {
    return scene()->table->axes.empty() ? tr("There is nothing yet in which these trials differ.") : QString();
}

bool ScatterView::isDrawn(std::size_t row) const {
    const auto of = axes();
    return of && std::isfinite(of->x.values[row]) && std::isfinite(of->y.values[row]);
}

std::vector<std::size_t> ScatterView::front() const {
    const auto of = axes();
    if (!of) return {};
    std::vector<ParetoPoint> points;
    for (std::size_t row = 0; row < scene()->passes.size(); ++row)
        if (scene()->passes[row] && isDrawn(row) && !scene()->table->trials[row].isCutShort)
            points.push_back({of->x.values[row], of->y.values[row], row});
    return paretoFront(std::move(points), of->x.better, of->y.better);
}

QString ScatterView::summary() const {
    const auto of = axes();
    if (!of) return {};
    std::size_t drawn = 0;
    for (std::size_t row = 0; row < scene()->passes.size(); ++row) drawn += scene()->passes[row] && isDrawn(row);
    QString words = tr("%1 against %2: %3 trials have both.").arg(of->y.name, of->x.name).arg(drawn);
    QStringList best;
    for (const auto row : front()) best << scene()->table->trials[row].name;
    if (m_pareto->isChecked()) words += ' ' + tr("No other beats in both: %1.").arg(best.join(", "));
    return words;
}

QByteArray ScatterView::csv() const {
    const auto of = axes();
    if (!of) return {};
    const auto path = [](const CompareAxis& axis) { return csvField(QString::fromStdString(axis.key)); };
    const auto cell = [](const CompareAxis& axis, std::size_t row) {
        const double value = axis.values[row];
        return axis.isChoice() ? csvField(axis.text(value)) : QString::number(value, 'g', 17);
    };
    QString text = "trial," + path(of->x) + ',' + path(of->y) + "\r\n";
    for (std::size_t row = 0; row < scene()->passes.size(); ++row) {
        if (!scene()->passes[row] || !isDrawn(row)) continue;
        text += QString::number(scene()->table->trials[row].trial) + ',' + cell(of->x, row) + ',' + cell(of->y, row) +
                "\r\n";
    }
    return text.toUtf8();
}

QRectF ScatterView::canvas() const { return QRectF(rect()).adjusted(0, m_x->height() + space::kMedium, 0, 0); }

std::optional<ChartFrame> ScatterView::frameIn(const QRectF& area) const {
    const auto of = axes();
    if (!of || area.height() < 40) return std::nullopt;
    const double above = QFontMetricsF(font()).height() + space::kSmall;  // what colours mean, and what is not drawn
    return ChartFrame(area.adjusted(0, above, 0, 0), chartAxis(of->x, std::max(3, static_cast<int>(area.width() / 70))),
                      chartAxis(of->y, std::max(3, static_cast<int>(area.height() / 36))), font());
}

QPointF ScatterView::placeOf(const ChartFrame& frame, std::size_t row) const {
    const Axes of = *axes();
    const auto place = [&](const CompareAxis& axis) { return axis.values[row] + (axis.isChoice() ? jitter(row) : 0); };
    return frame.at(place(of.x), place(of.y));
}

QColor ScatterView::dotColor(std::size_t row) const {
    const Theme& theme = currentTheme();
    const auto place = selection().placeOf(scene()->table->trials[row].trial);
    if (place) return seriesColor(*place, theme);
    if (!scene()->passes[row]) return theme.grid;
    const CompareAxis* color = axes()->color;
    if (!color) return theme.accent;
    const double share = goodness(*color, color->values[row]);
    return std::isfinite(share) ? rampColor(share, theme) : theme.muted;
}

void ScatterView::paintDot(QPainter& painter, const ChartFrame& frame, std::size_t row, bool isLit) const {
    const auto place = selection().placeOf(scene()->table->trials[row].trial);
    const QPointF at = placeOf(frame, row);
    const double radius = kDotRadius + (isLit ? 2 : 0);
    const bool isCutShort = scene()->table->trials[row].isCutShort;
    const QColor color = dotColor(row);
    const QPen outline = isLit ? QPen(currentTheme().text, 1.5) : isCutShort ? QPen(color, 1.5) : QPen(Qt::NoPen);
    if (place) return paintMarker(painter, seriesMarker(*place), at, radius + 2, color, outline);
    painter.setPen(outline);
    painter.setBrush(isCutShort ? QBrush(Qt::NoBrush) : QBrush(color));
    painter.drawEllipse(at, radius, radius);
}

void ScatterView::paintFront(QPainter& painter, const ChartFrame& frame) const {
    QPolygonF line;
    for (const auto row : front()) line << placeOf(frame, row);
    painter.setPen(QPen(currentTheme().good, 1.5, Qt::DashLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(line);
}

// Above: which trials have no place, and what colours mean.
void ScatterView::paintWords(QPainter& painter, const QRectF& area) const {
    const Axes of = *axes();
    QRectF line(area.left(), area.top(), area.width(), QFontMetricsF(font()).height());
    std::size_t passing = 0, drawn = 0;
    for (std::size_t row = 0; row < scene()->passes.size(); ++row)
        passing += scene()->passes[row], drawn += scene()->passes[row] && isDrawn(row);
    painter.setPen(currentTheme().muted);
    if (drawn < passing) {
        const QString words = tr("Without a value: %1 of %2").arg(passing - drawn).arg(passing);
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, words);
        line.setLeft(line.left() + QFontMetricsF(font()).horizontalAdvance(words) + space::kMedium);
    }
    const CompareAxis* color = of.color;
    if (!color || color->isChoice()) return;
    const bool isLess = color->better == Better::Lower;
    paintRamp(painter, line, color->name, color->text(isLess ? color->high : color->low),
              color->text(isLess ? color->low : color->high));
}

// Those that the brushes leave over the others, pinned ones over all.
void ScatterView::paintPicture(QPainter& painter, const QRectF& area) const {
    const auto frame = frameIn(area);
    if (!frame) return;
    frame->paint(painter);
    painter.save();
    paintWords(painter, area);
    painter.setRenderHint(QPainter::Antialiasing);
    if (m_pareto->isChecked()) paintFront(painter, *frame);
    for (const int layer : {0, 1, 2}) {
        for (std::size_t row = 0; row < scene()->passes.size(); ++row) {
            const int of = isPinned(row) ? 2 : scene()->passes[row] ? 1 : 0;
            if (of == layer && isDrawn(row)) paintDot(painter, *frame, row, false);
        }
    }
    painter.restore();
}

void ScatterView::paintEvent(QPaintEvent*) {
    if (!scene()) return;
    const QRectF area = canvas();
    const bool isOfThesePins = m_picturedPins == selection().pinned();
    if (m_picture.isNull() || !isOfThesePins || m_picture.devicePixelRatio() != devicePixelRatio()) {
        m_picturedPins = selection().pinned();
        m_picture = QPixmap(size() * devicePixelRatio());
        m_picture.setDevicePixelRatio(devicePixelRatio());
        m_picture.fill(Qt::transparent);
        QPainter picture(&m_picture);
        picture.setFont(font());
        paintPicture(picture, area);
    }
    QPainter painter(this);
    painter.drawPixmap(0, 0, m_picture);
    const auto frame = frameIn(area);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto row = hoveredRow();
    if (frame && row && isDrawn(*row)) paintDot(painter, *frame, *row, true);
    if (m_band.isNull()) return;
    painter.setPen(currentTheme().accent);
    painter.setBrush(
        QColor(currentTheme().accent.red(), currentTheme().accent.green(), currentTheme().accent.blue(), 40));
    painter.drawRect(m_band);
}

std::optional<std::size_t> ScatterView::rowAt(QPointF at) const {
    const auto frame = frameIn(canvas());
    if (!frame) return std::nullopt;
    std::optional<std::size_t> nearest;
    double least = kDotReach;
    for (std::size_t row = 0; row < scene()->passes.size(); ++row) {
        if (!isDrawn(row)) continue;
        const QPointF away = placeOf(*frame, row) - at;
        const double distance = std::hypot(away.x(), away.y()) + (scene()->passes[row] ? 0 : kDotReach / 2);
        if (distance < least) least = distance, nearest = row;
    }
    return nearest;
}

void ScatterView::mouseMoveEvent(QMouseEvent* event) {
    if (!scene()) return;
    if (m_from && (event->position() - *m_from).manhattanLength() > kLeastDrag) {
        m_band = QRectF(*m_from, event->position()).normalized();
        return update();
    }
    const auto row = rowAt(event->position());
    hover(row);
    const auto of = axes();
    if (!row || !of) return setToolTip({});
    setToolTip(QString("%1\n%2: %3\n%4: %5")
                   .arg(scene()->table->trials[*row].name, of->x.name, of->x.cell(*row), of->y.name, of->y.cell(*row)));
}

void ScatterView::mousePressEvent(QMouseEvent* event) {
    if (scene() && event->button() == Qt::LeftButton) m_from = event->position();
}

void ScatterView::mouseReleaseEvent(QMouseEvent* event) {
    if (!std::exchange(m_from, std::nullopt) || !scene()) return;
    const QRectF band = std::exchange(m_band, QRectF());
    if (!band.isNull()) return brushDragged(band);
    if (const auto row = rowAt(event->position())) togglePin(*row);
}

void ScatterView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const auto row = scene() ? rowAt(event->position()) : std::nullopt) openClicked(*row);
}

// Brushes snap to data: their ends are values that trials have.
void ScatterView::brushDragged(const QRectF& box) {
    const auto frame = frameIn(canvas());
    const auto of = axes();
    if (!frame || !of) return;
    std::vector<std::size_t> within;
    for (std::size_t row = 0; row < scene()->passes.size(); ++row)
        if (isDrawn(row) && box.contains(placeOf(*frame, row))) within.push_back(row);
    if (within.empty()) return update();
    const auto brushOf = [&](const CompareAxis& axis) {
        AxisBrush brush;
        if (axis.isChoice()) {
            for (const auto row : within) brush.choices.insert(axis.text(axis.values[row]).toStdString());
            return brush;
        }
        const auto [low, high] = std::ranges::minmax(within, {}, [&](std::size_t row) { return axis.values[row]; });
        brush.ranges.push_back({axis.values[low], axis.values[high]});
        return brush;
    };
    const std::string x = of->x.key, y = of->y.key;
    const AxisBrush across = brushOf(of->x), upwards = brushOf(of->y);
    selection().dragBrush(x, across);  // one step for both
    selection().brush(y, upwards);
}

}  // namespace lockstep::ui
