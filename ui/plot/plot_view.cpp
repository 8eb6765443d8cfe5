#include "ui/plot/plot_view.h"

#include <qcustomplot.h>

#include <QAction>
#include <QElapsedTimer>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/plot/plot_backdrop.h"
#include "ui/plot/plot_legend.h"
#include "ui/plot/plot_ticker.h"
#include "ui/plot/run_text.h"

namespace lockstep::ui {

namespace {

constexpr int kSmallestBand = 6;            // a rubber band below this is a click
constexpr int kWordsMilliseconds = 250;     // between two readings of the newest values by a person
constexpr int kSmoothingMilliseconds = 15;  // between the parts of a long curve's smoothing
constexpr int kRestMilliseconds = 50;       // after which somebody has done with zooming and moving
constexpr std::size_t kFewCurves = 12;      // whose lines may have as many points as there are columns, to be smooth
constexpr double kAirAlongX = 0.01;         // of what there is, at either end
constexpr double kAboveBounds = 0.04;       // of their size: a line along the bound is seen whole

QCPRange rangeOf(PlotRange range) { return {range.low, range.high}; }
PlotRange rangeOf(const QCPRange& range) { return {range.lower, range.upper}; }

// So that a marker at either end is seen whole.
PlotRange withAir(PlotRange x) { return {x.low - kAirAlongX * x.size(), x.high + kAirAlongX * x.size()}; }

std::optional<QString> meaningOf(const PlotSeries& series) {
    return series.band ? std::optional(series.band->meaning) : std::nullopt;
}

bool looksTheSame(const PlotSeries& a, const PlotSeries& b) {
    return a.name == b.name && a.color == b.color && a.marker == b.marker && a.dashed == b.dashed &&
           a.faint == b.faint && meaningOf(a) == meaningOf(b) && a.endsOpen == b.endsOpen;
}

}  // namespace

PlotView::PlotView(Look look, QWidget* parent) : QWidget(parent), m_look(std::move(look)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space::kSmall);
    m_head = new QHBoxLayout;
    m_body = new QHBoxLayout;
    column->addLayout(m_head);
    column->addLayout(m_body, 1);
    buildPlot();
    buildActions();
    buildHead();
    m_body->addWidget(m_plot, 1);
    for (QTimer* timer : {&m_wordsLater, &m_drawSoon, &m_detailLater}) timer->setSingleShot(true);
    connect(&m_detailLater, &QTimer::timeout, this, [this] {
        setMoving(false);
        emit rested();
    });
    connect(&m_wordsLater, &QTimer::timeout, this, [this] {
        if (m_wordsDue) updateWords();
    });
    connect(&m_drawSoon, &QTimer::timeout, this, &PlotView::refresh);
    applyTheme();
    applyTickers();
}

void PlotView::buildHead() {
    m_title = new QLabel(m_look.title);
    m_title->setProperty("role", "heading");
    m_legend = new PlotLegend(m_look.title, this);
    m_legend->hide();
    connect(m_legend, &PlotLegend::toggled, this, [this](std::size_t index, bool shown) { setHidden(index, !shown); });
    connect(m_legend, &PlotLegend::aloneRequested, this, &PlotView::showAlone);
    connect(m_legend, &PlotLegend::allRequested, this, &PlotView::showAll);
    connect(m_legend, &PlotLegend::pointed, this, [this](std::optional<std::size_t> index) {
        if (m_picks) emit pointed(index ? std::optional<qint64>(m_model.series()[*index].key) : std::nullopt);
    });
    m_more = new QToolButton;
    m_more->setText(QStringLiteral("⋯"));
    m_more->setObjectName("plotMenu");
    m_more->setAutoRaise(true);
    m_more->setAccessibleName(tr("What can be done with the plot %1").arg(m_look.title));
    m_more->setToolTip(tr("Copy, save, logarithmic values. In the plot: ←/→ pan, +/− zoom, Home fits"));
    m_more->setPopupMode(QToolButton::InstantPopup);
    m_more->setStyleSheet("QToolButton::menu-indicator { image: none; }");
    auto* menu = new QMenu(m_more);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        fillMenu(*menu);
    });
    m_more->setMenu(menu);
    m_head->addWidget(m_title);
    m_head->addStretch();
    m_head->addWidget(m_more);
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
    connect(m_plot->selectionRect(), &QCPSelectionRect::accepted, this, &PlotView::showBand);
    m_backdrop = new PlotBackdrop(*m_plot, m_model);
    m_dense = new DenseCurves(*m_plot);
    connect(m_plot, &QCustomPlot::afterReplot, this, [this] {
        if (m_isFull) m_fullMilliseconds = m_preparing + m_plot->replotTime();
    });
    m_lines.emplace(*m_plot);
    m_highlights.emplace(*m_plot);
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
    m_empty->setWordWrap(true);
    m_empty->setAlignment(Qt::AlignCenter);
    m_readout->setTextFormat(Qt::RichText);
    m_readout->setAutoFillBackground(true);
    m_readout->setMargin(space::kSmall);
}

void PlotView::setLook(Look look) {
    m_look = std::move(look);
    m_title->setText(m_look.title);
    m_empty->setText(m_look.emptyText);
    m_plot->setAccessibleName(m_look.title);
    m_partY.reset();
    applyTickers();
    refresh();
}

void PlotView::setSeries(std::vector<PlotSeries> series) {
    const auto& old = m_model.series();
    const bool same = std::equal(series.begin(), series.end(), old.begin(), old.end(), looksTheSame);
    m_model.setSeries(std::move(series));
    if (same) return;
    buildGraphs();
    refresh();
}

void PlotView::buildGraphs() {
    for (PlotGraphs& graphs : m_graphs) graphs.remove();
    m_graphs.clear();
    for (const PlotSeries& series : m_model.series()) {
        m_graphs.emplace_back(*m_plot, *m_dense, series);
    }
    colourGraphs();
    m_graphsAreNew = true;
    m_legend->setSeries(m_model.series());
    m_legend->setVisible(m_isLegendShown && !m_model.series().empty());
    QHBoxLayout* place = m_legend->isColumn() ? m_body : m_head;
    if (place->indexOf(m_legend) < 0) {
        for (QHBoxLayout* each : {m_head, m_body}) each->removeWidget(m_legend);
        place->insertWidget(m_legend->isColumn() ? 1 : 2, m_legend);
    }
    m_legend->followInTabOrder(m_more);
    m_wordsLater.stop();
}

void PlotView::setHidden(std::size_t index, bool hidden) {
    m_model.setHidden(index, hidden);
    m_wordsLater.stop();
    refresh();
}

void PlotView::showAlone(std::size_t index) {
    bool alone = !m_model.hidden(index);
    for (std::size_t i = 0; i < m_graphs.size(); ++i) alone = alone && (i == index || m_model.hidden(i));
    if (alone) return showAll();
    for (std::size_t i = 0; i < m_graphs.size(); ++i) m_model.setHidden(i, i != index);
    setHidden(index, false);
}

void PlotView::showAll() {
    for (std::size_t i = 0; i < m_graphs.size(); ++i) m_model.setHidden(i, false);
    m_wordsLater.stop();
    refresh();
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
    m_lines->colour(theme);
    m_highlights->colour(theme);
    m_backdrop->forget();
    QPalette words = palette();
    words.setColor(QPalette::Window, theme.raised);
    m_readout->setPalette(words);
    colourGraphs();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void PlotView::colourGraphs() {
    const auto& series = m_model.series();
    const bool lit = std::ranges::find(series, m_lit, &PlotSeries::key) != series.end();
    for (std::size_t i = 0; i < m_graphs.size(); ++i)
        m_graphs[i].colour(series[i], currentTheme(), lit && series[i].key != m_lit);
}

void PlotView::setLit(std::optional<std::int64_t> key) {
    if (std::exchange(m_lit, key) == key) return;
    colourGraphs();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

QString PlotView::valueText(double value, std::optional<double> deviation) const {
    const QString text = m_look.format ? m_look.format(value) : runNumber(value);
    return deviation ? text + " ± " + valueText(*deviation) : text;
}

QString PlotView::axisText(PlotAxis axis, double x) {
    switch (axis) {
        case PlotAxis::Step: return tr("step %1").arg(runCount(x));
        case PlotAxis::Epoch: return tr("epoch %1").arg(x == std::floor(x) ? runCount(x) : runNumber(x, 4));
        case PlotAxis::Samples: return tr("%1 samples").arg(runCount(x));
        case PlotAxis::DeviceTime: return tr("%1 of all devices").arg(runDuration(x));
        case PlotAxis::Time:
        case PlotAxis::Log: break;
    }
    return runDuration(x);
}

QString PlotView::summary() const {
    QStringList all{m_model.summary([this](double value) { return valueText(value); })};
    for (const PlotMoment& each : m_lines->moments()) {
        if (!each.name.isEmpty()) all << each.name;
    }
    return all.join("; ");
}

void PlotView::applyTickers() {
    const TickWords words = m_look.tick ? wordsOfEach(m_look.tick) : &tickNumbers;
    const KeepsTick keeps = m_look.bounds ? ticksWithin(*m_look.bounds) : KeepsTick();
    if (m_model.log()) m_plot->yAxis->setTicker(QSharedPointer<WordedTicker<QCPAxisTickerLog>>::create(words, keeps));
    else m_plot->yAxis->setTicker(QSharedPointer<WordedTicker<QCPAxisTicker>>::create(words, keeps));
    m_plot->yAxis->setScaleType(m_model.log() ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    m_plot->yAxis->ticker()->setTickCount(4);
    const PlotAxis axis = m_model.axis();
    if (axis == PlotAxis::Log) {
        m_plot->xAxis->setTicker(QSharedPointer<LogTicker>::create(m_look.base, m_look.alongTick));
        m_plot->xAxis->setNumberFormat("g");  // "1e-6" as it is
    } else if (axis == PlotAxis::Time || axis == PlotAxis::DeviceTime) {
        m_plot->xAxis->setTicker(QSharedPointer<WordedTicker<QCPAxisTickerTime>>::create(wordsOfEach(&runDuration)));
    } else if (axis == PlotAxis::Step || axis == PlotAxis::Samples) {
        m_plot->xAxis->setTicker(
            QSharedPointer<WordedTicker<QCPAxisTicker>>::create(wordsOfEach(&runCount), &isWholeTick));
    } else {
        const auto plain = [](double x) { return x == std::floor(x) ? runCount(x) : QString::number(x, 'g', 4); };
        m_plot->xAxis->setTicker(QSharedPointer<WordedTicker<QCPAxisTicker>>::create(wordsOfEach(plain)));
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
    setMoving(true);
    m_detailLater.start(kRestMilliseconds);
}

void PlotView::setMoving(bool isMoving) {
    m_isMoving = isMoving;
    m_backdrop->setMoving(isMoving);
    refresh();
}

// Of a logarithmic axis also what it spans, and where lines have names.
PlotRange PlotView::everythingAlong() const {
    PlotRange all = m_model.fitX();
    if (m_model.axis() != PlotAxis::Log) return all;
    const auto take = [&](double x) { all = {std::min(all.low, x), std::max(all.high, x)}; };
    if (m_model.empty() && m_look.span) all = *m_look.span;
    if (m_look.span) take(m_look.span->low), take(m_look.span->high);
    for (const PlotMoment& each : m_lines->moments()) {
        if (!each.name.isEmpty()) take(m_model.along(each));
    }
    return all;
}

PlotRange PlotView::shownX() const { return rangeOf(m_plot->xAxis->range()); }

bool PlotView::applyRanges() {
    const PlotRange x = m_partX.value_or(withAir(everythingAlong()));
    PlotRange y = m_partY.value_or(m_model.fitY(x));
    if (m_look.bounds && !m_partY) {
        y.low = std::max(y.low, m_look.bounds->low);
        y.high = std::min(y.high, m_look.bounds->high + kAboveBounds * m_look.bounds->size());
    }
    if (m_look.fromZero && !m_partY && !m_model.log()) y = {0, (1 + kAboveBounds) * y.high};
    if (rangeOf(x) == m_plot->xAxis->range() && rangeOf(y) == m_plot->yAxis->range()) return false;
    m_plot->xAxis->setRange(rangeOf(x));
    m_plot->yAxis->setRange(rangeOf(y));
    return true;
}

// A hidden page costs nothing; it is drawn when it is shown.
void PlotView::refresh() {
    if (!isVisible()) return;
    QElapsedTimer clock;
    clock.start();
    m_isFull = !isCoarse();
    const bool moved = applyRanges(), grown = drawGraphs(), marked = m_lines->place(m_model);
    if (moved) m_highlights->place(m_model);
    if (m_isFull && grown) m_preparing = static_cast<double>(clock.nsecsElapsed()) * 1e-6;
    const bool empty = m_model.empty();
    m_empty->setVisible(empty);
    if (empty) {
        const int room = m_plot->axisRect()->width() - 2 * space::kLarge;
        m_empty->setFixedWidth(std::clamp(fontMetrics().horizontalAdvance(m_empty->text()) + 2, 1, std::max(1, room)));
        m_empty->adjustSize();
        m_empty->move(m_plot->axisRect()->center() - m_empty->rect().center());
    }
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) axis->setTickLabels(!empty);
    const bool isUnfinished = !m_isMoving && m_backdrop->isStretched();
    if (moved || grown || marked || isUnfinished) m_plot->replot(QCustomPlot::rpQueuedReplot);
    if (m_model.smoothing()) m_drawSoon.start(kSmoothingMilliseconds);
    if (m_wordsLater.isActive()) m_wordsDue = true;
    else updateWords();
}

bool PlotView::drawGraphs() {
    const PlotRange x = rangeOf(m_plot->xAxis->range());
    const Sharpness sharpness = isCoarse() ? Sharpness::Coarse : Sharpness::Full;
    const double ratio = devicePixelRatioF() * (isCoarse() ? 0.5 : 1);
    const int columns = std::max(1, static_cast<int>(m_plot->axisRect()->width() * ratio));
    const std::size_t inAll = static_cast<std::size_t>(columns) * kFewCurves;
    const std::size_t smooth = isCoarse() ? 0 : inAll / std::max(m_graphs.size(), kFewCurves);
    m_dense->setCoarse(isCoarse());
    bool any = m_graphsAreNew;
    for (std::size_t i = 0; i < m_graphs.size(); ++i) {
        if (!m_graphsAreNew && !m_model.changed(i, x, columns)) continue;
        m_graphs[i].fill(m_model.draw(i, x, columns, sharpness), smooth);
        any = true;
    }
    m_graphsAreNew = false;
    return any;
}

void PlotView::updateWords() {
    m_wordsDue = false;
    m_wordsLater.start(kWordsMilliseconds);
    for (std::size_t i = 0; i < m_graphs.size(); ++i) {
        const auto last = m_model.last(i);
        m_legend->setState(i, !m_model.hidden(i), last ? valueText(last->value, last->deviation) : QString());
    }
    if (const QString words = summary(); words != m_plot->accessibleDescription())
        m_plot->setAccessibleDescription(words);
}

// A flat band zooms along x alone, a narrow one along y.
void PlotView::showBand(QRect drawn) {
    const QRect band = drawn.normalized();
    const bool wide = band.width() >= kSmallestBand, high = band.height() >= kSmallestBand;
    if (!wide && !high) return pick(drawn.center());
    const PlotRange x{m_plot->xAxis->pixelToCoord(band.left()), m_plot->xAxis->pixelToCoord(band.right())};
    const PlotRange y{m_plot->yAxis->pixelToCoord(band.bottom()), m_plot->yAxis->pixelToCoord(band.top())};
    showPart(wide ? std::optional(x) : m_partX, high ? std::optional(y) : m_partY);
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

void PlotView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    m_legend->setRoom(width());
}

void PlotView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    refresh();
}

}  // namespace lockstep::ui
