#include "ui/views/plot_view.h"

#include <qcustomplot.h>

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>
#include <cmath>

#include "ui/models/run_text.h"
#include "ui/views/plot_marks.h"
#include "ui/views/plot_ticker.h"

namespace lockstep::ui {

namespace {

constexpr int kGhostAlpha = 80;
constexpr int kSmallestBand = 6;                   // a rubber band below this is a click

QCPRange rangeOf(PlotRange range) { return {range.low, range.high}; }
PlotRange rangeOf(const QCPRange& range) { return {range.lower, range.upper}; }

void fill(QCPGraph* graph, const std::vector<Curve::Point>& points) {
    QVector<QCPGraphData> data;
    data.reserve(static_cast<int>(points.size()));
    for (const auto& [x, y] : points) data.append({x, y});
    graph->data()->set(data, true);
}

}  // namespace

PlotView::PlotView(Look look, QWidget* parent) : QWidget(parent), m_look(std::move(look)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space::kSmall);
    auto* head = new QHBoxLayout;
    m_title = new QLabel(m_look.title);
    m_title->setProperty("role", "heading");
    m_legend = new QHBoxLayout;
    m_legend->setSpacing(space::kSmall);
    head->addWidget(m_title);
    head->addStretch();
    head->addLayout(m_legend);
    column->addLayout(head);
    buildPlot();
    column->addWidget(m_plot, 1);
    buildActions();
    applyTheme();
    applyTickers();
}

void PlotView::buildPlot() {
    m_plot = new QCustomPlot;
    m_plot->setFocusPolicy(Qt::StrongFocus);
    m_plot->setMouseTracking(true);
    m_plot->setMinimumSize(180, 110);
    m_plot->setNoAntialiasingOnDrag(true);
    m_plot->setPlottingHint(QCP::phFastPolylines);
    m_plot->setSelectionRectMode(QCP::srmCustom);
    m_plot->axisRect()->setMinimumMargins(QMargins(4, 6, 12, 4));
    m_plot->layer("overlay")->setMode(QCPLayer::lmBuffered);
    m_plot->installEventFilter(this);
    m_plot->setAccessibleName(m_look.title);
    m_plot->setToolTip(
        "Wheel: zoom, with Ctrl along the value axis. Drag: zoom into a rectangle. Drag with Shift: move.\n"
        "Double click: everything. Right click: copy and save.");
    connect(m_plot->selectionRect(), &QCPSelectionRect::accepted, this, [this](const QRect& band) {
        const QRect box = band.normalized();
        if (box.width() < kSmallestBand || box.height() < kSmallestBand) return;
        showPart(PlotRange{m_plot->xAxis->pixelToCoord(box.left()), m_plot->xAxis->pixelToCoord(box.right())},
                 PlotRange{m_plot->yAxis->pixelToCoord(box.bottom()), m_plot->yAxis->pixelToCoord(box.top())});
    });
    m_crosshair = new QCPItemStraightLine(m_plot);
    m_crosshair->setLayer("overlay");
    m_crosshair->setVisible(false);
    for (QLabel** label : {&m_readout, &m_empty}) {
        *label = new QLabel(m_plot);
        (*label)->setAttribute(Qt::WA_TransparentForMouseEvents);
        (*label)->hide();
    }
    m_empty->setText(m_look.emptyText);
    m_empty->setProperty("role", "muted");
    m_readout->setTextFormat(Qt::RichText);
    m_readout->setAutoFillBackground(true);
    m_readout->setMargin(space::kSmall);
}

void PlotView::buildActions() {
    auto* copy = new QAction("Copy picture", this);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(copy, &QAction::triggered, this, &PlotView::copyPicture);
    addAction(copy);
}

void PlotView::setSeries(std::vector<PlotSeries> series) {
    const auto& old = m_model.series();
    bool same = series.size() == old.size() && m_entries.size() == series.size();
    for (std::size_t i = 0; same && i < series.size(); ++i)
        same = series[i].name == old[i].name && series[i].color == old[i].color;
    m_model.setSeries(std::move(series));
    if (same) return;
    buildEntries();
    refresh();
}

void PlotView::buildEntries() {
    for (const Entry& entry : m_entries) {
        for (QCPGraph* graph : {entry.ghost, entry.line, entry.markers}) m_plot->removeGraph(graph);
        entry.button->deleteLater();
    }
    m_entries.clear();
    for (std::size_t i = 0; i < m_model.series().size(); ++i) {
        Entry entry{m_plot->addGraph(), m_plot->addGraph(), m_plot->addGraph(), new QToolButton};
        for (QCPGraph* graph : {entry.ghost, entry.line, entry.markers}) graph->setAdaptiveSampling(false);
        entry.markers->setLineStyle(QCPGraph::lsNone);
        entry.markers->setName(m_model.series()[i].name);
        for (QCPGraph* graph : {entry.ghost, entry.line}) graph->removeFromLegend();
        entry.button->setCheckable(true);
        entry.button->setChecked(!m_model.hidden(i));
        entry.button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        entry.button->setAccessibleName(QString("Show %1 in %2").arg(m_model.series()[i].name, m_look.title));
        entry.button->setToolTip(QString("Show or hide %1").arg(m_model.series()[i].name));
        connect(entry.button, &QToolButton::toggled, this, [this, i](bool shown) {
            m_model.setHidden(i, !shown);
            colourEntry(i);
            refresh();
        });
        m_legend->addWidget(entry.button);
        m_entries.push_back(entry);
        colourEntry(i);
    }
}

void PlotView::colourEntry(std::size_t index) {
    const auto& series = m_model.series()[index];
    const Theme& theme = currentTheme();
    const QColor color = seriesColor(series.color, theme);
    QColor faint = color;
    faint.setAlpha(kGhostAlpha);
    Entry& entry = m_entries[index];
    entry.ghost->setPen(QPen(faint, 1));
    entry.line->setPen(QPen(color, 1));
    entry.markers->setPen(QPen(color, 1));
    entry.markers->setScatterStyle(markerStyle(series.marker, color, theme.surface));
    entry.button->setStyleSheet(
        QString("QToolButton { border: 1px solid transparent; border-radius: 4px; padding: 1px 5px;"
                " background: transparent; color: %1; text-decoration: %2; }"
                "QToolButton:hover, QToolButton:focus { border-color: %3; }")
            .arg((m_model.hidden(index) ? theme.muted : theme.text).name(),
                 m_model.hidden(index) ? "line-through" : "none", theme.accent.name()));
    entry.button->setIcon(markerIcon(series.marker, m_model.hidden(index) ? theme.border : color, devicePixelRatioF()));
}

void PlotView::applyTheme() {
    const Theme& theme = currentTheme();
    m_plot->setBackground(theme.surface);
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setBasePen(QPen(theme.border, 1));
        axis->setTickPen(QPen(theme.border, 1));
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLabelColor(theme.muted);
        axis->setLabelColor(theme.muted);
        axis->setTickLabelFont(font());
        axis->grid()->setPen(QPen(theme.grid, 1));
        axis->grid()->setZeroLinePen(QPen(theme.grid, 1));
    }
    m_plot->selectionRect()->setPen(QPen(theme.accent, 1));
    m_crosshair->setPen(QPen(theme.muted, 1, Qt::DashLine));
    QPalette words = palette();
    words.setColor(QPalette::Window, theme.raised);
    m_readout->setPalette(words);
    for (std::size_t i = 0; i < m_entries.size(); ++i) colourEntry(i);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

QString PlotView::valueText(double value) const { return m_look.format ? m_look.format(value) : runNumber(value); }

QString PlotView::axisText(double x) const {
    if (m_model.axis() == PlotAxis::Step) return "step " + runCount(x);
    return m_model.axis() == PlotAxis::Epoch ? "epoch " + runNumber(x, 4) : runDuration(x);
}

void PlotView::applyTickers() {
    const Format words = m_look.tick ? m_look.tick : [](double value) { return QString::number(value, 'g', 4); };
    if (m_model.log()) m_plot->yAxis->setTicker(QSharedPointer<WordedTicker<QCPAxisTickerLog>>::create(words));
    else m_plot->yAxis->setTicker(QSharedPointer<WordedTicker<QCPAxisTicker>>::create(words));
    m_plot->yAxis->setScaleType(m_model.log() ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    m_plot->yAxis->ticker()->setTickCount(4);
    if (m_model.axis() == PlotAxis::Time) {
        m_plot->xAxis->setTicker(QSharedPointer<WordedTicker<QCPAxisTickerTime>>::create(&runDuration));
    } else {
        const auto plain = [](double x) { return x == std::floor(x) ? runCount(x) : runNumber(x, 4); };
        m_plot->xAxis->setTicker(QSharedPointer<WordedTicker<QCPAxisTicker>>::create(plain));
    }
}

void PlotView::setSmoothing(double weight) {
    m_model.setSmoothing(weight);
    refresh();
}

void PlotView::setAxis(PlotAxis axis) {
    m_model.setAxis(axis);
    m_partX.reset();
    applyTickers();
    refresh();
}

void PlotView::setLog(bool log) {
    m_model.setLog(log);
    m_partY.reset();
    applyTickers();
    refresh();
}

void PlotView::fit() { showPart(std::nullopt, std::nullopt); }

void PlotView::showPart(std::optional<PlotRange> x, std::optional<PlotRange> y) {
    m_partX = x;
    m_partY = y;
    refresh();
}

void PlotView::applyRanges() {
    const PlotRange x = m_partX.value_or(m_model.fitX());
    PlotRange y = m_partY.value_or(m_model.fitY(x));
    if (m_look.bounds && !m_partY) {
        y.low = std::max(y.low, m_look.bounds->low);
        y.high = std::min(y.high, m_look.bounds->high);
    }
    m_plot->xAxis->setRange(rangeOf(x));
    m_plot->yAxis->setRange(rangeOf(y));
}

// A hidden page costs nothing; it is drawn when it is shown.
void PlotView::refresh() {
    if (!isVisible()) return;
    applyRanges();
    const int columns = std::max(1, static_cast<int>(m_plot->axisRect()->width() * devicePixelRatioF()));
    for (std::size_t i = 0; i < m_entries.size(); ++i) drawEntry(i, columns);
    updateWords();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void PlotView::drawEntry(std::size_t index, int columns) {
    const auto drawing = m_model.draw(index, rangeOf(m_plot->xAxis->range()), columns);
    const Entry& entry = m_entries[index];
    const bool many = drawing.line.size() > static_cast<std::size_t>(columns);      // a band of noise, not a line
    for (QCPGraph* graph : {entry.ghost, entry.line}) graph->setAntialiased(!many);
    fill(entry.ghost, drawing.ghost);
    fill(entry.line, drawing.line);
    fill(entry.markers, drawing.markers);
}

void PlotView::updateWords() {
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        const auto last = m_model.last(i);
        const QString& name = m_model.series()[i].name;
        m_entries[i].button->setText(last ? QString("%1  %2").arg(name, valueText(*last)) : name);
    }
    m_empty->setVisible(m_model.empty());
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) axis->setTickLabels(!m_model.empty());
    m_empty->adjustSize();
    m_empty->move(m_plot->axisRect()->center() - m_empty->rect().center());
    if (const QString words = summary(); words != m_plot->accessibleDescription())
        m_plot->setAccessibleDescription(words);
}

void PlotView::setCrosshair(std::optional<double> x) {
    const bool shown = x && !m_model.empty() && m_plot->xAxis->range().contains(*x);
    if (!shown && !m_crosshair->visible()) return;
    m_crosshair->setVisible(shown);
    m_readout->setVisible(shown);
    if (shown) {
        m_crosshair->point1->setCoords(*x, m_plot->yAxis->range().lower);
        m_crosshair->point2->setCoords(*x, m_plot->yAxis->range().upper);
        moveReadout(*x);
    }
    m_plot->layer("overlay")->replot();
}

QString PlotView::readoutText(double x) {
    QStringList rows{"<b>" + axisText(x) + "</b>"};
    for (const auto& reading : m_model.readings(x)) {
        const auto& series = m_model.series()[reading.series];
        rows << QString("<span style='color:%1'>%2</span> %3 <b>%4</b>")
                    .arg(seriesColor(series.color, currentTheme()).name(), markerGlyph(series.marker),
                         series.name.toHtmlEscaped(), valueText(reading.value));
    }
    return rows.join("<br>");
}

void PlotView::moveReadout(double x) {
    m_readout->setText(readoutText(x));
    m_readout->adjustSize();
    const QRect box = m_plot->axisRect()->rect();
    const int at = static_cast<int>(m_plot->xAxis->coordToPixel(x));
    const bool left = at > box.center().x();
    m_readout->move(left ? at - m_readout->width() - space::kMedium : at + space::kMedium, box.top() + space::kSmall);
}

void PlotView::zoom(double factor, std::optional<QPointF> at, bool vertical) {
    QCPAxis* axis = vertical ? m_plot->yAxis : m_plot->xAxis;
    const QPointF middle = at.value_or(m_plot->axisRect()->center());
    const double center = axis->pixelToCoord(vertical ? middle.y() : middle.x());
    const auto range = PlotModel::zoomed(rangeOf(axis->range()), center, factor, vertical && m_model.log());
    if (vertical) showPart(m_partX, range);
    else showPart(range, m_partY);
}

// Along x alone while the height follows by itself.
void PlotView::pan(double dx, double dy) {
    const auto moved = [](QCPAxis* axis, double by) {
        const double low = axis->coordToPixel(axis->range().lower), high = axis->coordToPixel(axis->range().upper);
        return PlotRange{axis->pixelToCoord(low - by), axis->pixelToCoord(high - by)};
    };
    showPart(moved(m_plot->xAxis, dx), m_partY ? std::optional(moved(m_plot->yAxis, dy)) : std::nullopt);
}

void PlotView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    const bool looks = event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange;
    if (looks && m_plot && m_crosshair) applyTheme();
}

void PlotView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    refresh();
}

}  // namespace lockstep::ui
