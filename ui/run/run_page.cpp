#include "ui/run/run_page.h"

#include <QEvent>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QProgressBar>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/plot/plot_controls.h"
#include "ui/plot/run_text.h"
#include "ui/run/bandwidth_card.h"
#include "ui/run/device_tile.h"
#include "ui/run/failure_card.h"
#include "ui/run/live_text.h"
#include "ui/run/run_buttons.h"
#include "ui/run/text_card.h"
#include "ui/style/elided_label.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kTileWidth = 400;  // with its shares in one line
constexpr std::size_t kLoss = 0, kQuality = 1, kRate = 2, kLearningRate = 3;

template <class Label = QLabel>
QLabel* label(const char* role, const QString& words = {}) {
    auto* out = new Label(words);
    if (role) out->setProperty("role", role);
    return out;
}

QFrame* card(QWidget* inside) {
    auto* frame = new QFrame;
    frame->setProperty("card", true);
    auto* layout = new QVBoxLayout(frame);
    layout->setContentsMargins(space::kMedium, space::kMedium, space::kMedium, space::kMedium);
    layout->addWidget(inside);
    return frame;
}

QString emptyText() { return RunPage::tr("Curves appear with the first step"); }

QColor colourOf(RunState state, const Theme& theme) {
    switch (state) {
        case RunState::Running:
        case RunState::Finished: return theme.good;
        case RunState::Failed:
        case RunState::Crashed: return theme.bad;
        case RunState::Queued:
        case RunState::Preparing: return theme.muted;
        default: return theme.warn;
    }
}

// As many beside one another as fit, in rows of one length.
int tileColumns(int tiles, int width) {
    const int fitting = std::clamp(width / kTileWidth, 1, std::max(1, tiles));
    const int rows = (tiles + fitting - 1) / fitting;
    return rows > 0 ? (tiles + rows - 1) / rows : 1;
}

// Where the run went on in another world.
std::vector<PlotMoment> momentsOf(const RunRecord& record) {
    std::vector<PlotMoment> moments;
    const Curve& loss = *record.curve("loss");
    for (const RunNote& note : record.notes()) {
        const auto* change = std::get_if<WorldChanged>(&note);
        if (!change || loss.empty()) continue;
        const auto step = static_cast<double>(change->step);
        const std::size_t at = loss.at(CurveAxis::Step, step);
        moments.push_back({step, at < loss.size() ? loss.x(CurveAxis::Seconds, at) : 0});
    }
    return moments;
}

bool endedBadly(RunState state) { return state == RunState::Failed || state == RunState::Crashed; }

}  // namespace

RunPage::RunPage(RunFeed* feed, Explain explain, QWidget* parent)
    : QWidget(parent), m_feed(feed), m_look(feed->trial()), m_explain(std::move(explain)) {
    auto* body = new QWidget;
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(space::kPage, space::kLarge, space::kPage, space::kLarge);
    column->setSpacing(space::kMedium);
    column->addWidget(buildHeader());
    m_failure = new FailureCard;
    m_failure->hide();
    connect(m_failure, &FailureCard::resumeRequested, this,
            [this] { m_buttons->press(RunAction::ResumeFromCheckpoint); });
    column->addWidget(m_failure);
    QWidget* plots = buildPlots();
    column->addWidget(new PlotControls({m_plots.begin(), m_plots.end()}));
    column->addWidget(plots, 1);
    m_text = new TextCard;
    m_text->hide();
    column->addWidget(m_text);
    m_bandwidths = new BandwidthCard(m_explain);
    m_bandwidths->hide();
    column->addWidget(m_bandwidths);
    m_tileArea = new QWidget;
    m_tileGrid = new QGridLayout(m_tileArea);
    m_tileGrid->setContentsMargins(0, 0, 0, 0);
    m_tileGrid->setSpacing(space::kMedium);
    column->addWidget(m_tileArea);
    buildMessages(*column);

    auto* scroll = new QScrollArea;
    scroll->setWidget(body);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setAccessibleName(tr("Page of the run"));
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->addWidget(scroll);
    connect(feed, &RunFeed::changed, this, &RunPage::refresh);
    applyTheme();
}

QWidget* RunPage::buildHeader() {
    auto* header = new QWidget;
    auto* column = new QVBoxLayout(header);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space::kSmall);
    auto* row = new QHBoxLayout;
    m_title = label<ElidedLabel>("title");
    m_state = label("heading");
    m_state->setTextFormat(Qt::RichText);
    row->addWidget(m_title);
    row->addWidget(m_state);
    row->addStretch();
    m_buttons = new RunButtons(m_feed);
    connect(m_buttons, &RunButtons::resumeRequested, this, &RunPage::resumeRequested);
    connect(m_buttons, &RunButtons::cardRequested, this, &RunPage::cardRequested);
    m_top = new QBoxLayout(QBoxLayout::LeftToRight);
    for (QBoxLayout* each : {static_cast<QBoxLayout*>(row), m_top}) each->setSpacing(space::kMedium);
    m_top->addLayout(row, 1);
    m_top->addWidget(m_buttons, 0, Qt::AlignLeft);
    column->addLayout(m_top);
    m_subtitle = label<ElidedLabel>("muted");
    column->addWidget(m_subtitle);
    m_progress = new QProgressBar;
    m_progress->setTextVisible(false);
    m_progress->setFixedHeight(8);
    m_progress->setAccessibleName(tr("Progress of the run"));
    column->addWidget(m_progress);
    m_progressText = label<ElidedLabel>(nullptr);
    column->addWidget(m_progressText);
    m_trouble = label("problem");
    m_trouble->setWordWrap(true);
    m_trouble->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(m_trouble);
    return header;
}

void RunPage::buildMessages(QBoxLayout& column) {
    m_messagesTitle = label("heading", tr("Messages"));
    m_messages = new QListWidget;
    m_messages->setAccessibleName(tr("Messages of the run"));
    m_messages->setWordWrap(true);
    m_messages->setMaximumHeight(90);
    column.addWidget(m_messagesTitle);
    column.addWidget(m_messages);
}

QList<QAction*> RunPage::commands() const { return m_buttons->actions(); }

QWidget* RunPage::buildPlots() {
    const auto percentTick = [](double value) { return QString::number(100 * value, 'g', 4) + " %"; };
    const QString empty = emptyText();
    m_plots[kLoss] = new PlotView({tr("Loss"), empty, {}, {}, {}});
    m_plots[kQuality] = new PlotView({tr("Accuracy"), empty, &runPercent, percentTick, PlotRange{0, 1}});
    m_plots[kRate] = new PlotView({tr("Samples/s"), empty, &runCount, &runCount, {}});
    m_plots[kLearningRate] = new PlotView({tr("Learning rate"), empty, {}, {}, {}});
    auto* area = new QWidget;
    auto* grid = new QGridLayout(area);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(space::kMedium);
    for (std::size_t i = 0; i < m_plots.size(); ++i) {
        grid->addWidget(card(m_plots[i]), static_cast<int>(i / 2), static_cast<int>(i % 2));
        for (PlotView* other : m_plots) {
            if (other != m_plots[i]) connect(m_plots[i], &PlotView::hovered, other, &PlotView::setCrosshair);
        }
    }
    for (const int column : {0, 1}) grid->setColumnStretch(column, 1);
    area->setMinimumHeight(380);
    return area;
}

void RunPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    refresh();
}

void RunPage::refresh() {
    if (!m_feed || !isVisible()) return;
    updateHeader();
    m_buttons->refresh();
    updateTrouble();
    updatePlots();
    updateText();
    m_bandwidths->show(m_feed->record().bandwidths(), m_feed->record().binding());
    updateTiles();
    updateMessages();
}

void RunPage::updateHeader() {
    const RunRecord& record = m_feed->record();
    m_title->setText(liveTitle(m_feed->trial(), m_feed->row()));
    m_subtitle->setText(liveSubtitle(m_feed->row(), record));
    const bool known = m_feed->row() || m_feed->connected();
    const QString state = m_feed->loading() ? tr("Reading…")
                          : known           ? liveState(m_feed->state(), m_feed->asked())
                                            : tr("Not found");
    m_state->setText(
        QString("<span style='color:%1'>%2</span>").arg(colourOf(m_feed->state(), currentTheme()).name(), state));
    m_state->setAccessibleName(tr("State of the run: %1").arg(state));
    arrangeHeader();
    const int permille = livePermille(record);
    const bool waiting = permille < 0 && !isFinal(m_feed->state()) && (known || m_feed->loading());
    m_progress->setRange(0, waiting ? 0 : 1000);
    if (!waiting) m_progress->setValue(std::max(0, permille));
    m_progressText->setText(m_feed->loading() ? tr("Reading the history") : known ? liveProgress(record) : QString());
}

void RunPage::applyTheme() {
    const Theme& theme = currentTheme();
    m_progress->setStyleSheet(QString("QProgressBar { border: none; border-radius: 4px; background: %1; }"
                                      "QProgressBar::chunk { border-radius: 4px; background: %2; }")
                                  .arg(theme.border.name(), theme.accent.name()));
    refresh();
}

void RunPage::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_feed && m_messages) applyTheme();
}

void RunPage::updateTrouble() {
    QStringList lines;
    for (const auto& problem : m_feed->problems()) {
        const Explanation words = m_explain(problem);
        lines << words.inTwoLines();
    }
    m_trouble->setText(lines.join('\n'));
    m_trouble->setVisible(!lines.isEmpty());
    const bool bad = endedBadly(m_feed->state());
    m_failure->setVisible(bad);
    if (!bad) return;
    const bool canResume = m_feed->keepsCheckpoint() && m_feed->actions().enabled(RunAction::ResumeFromCheckpoint);
    const auto log = QString::fromStdString((m_feed->places().run(m_feed->trial()) / "run.log").string());
    m_failure->setText(failureText(m_feed->record(), m_feed->trial(), canResume, log, m_explain), canResume);
}

void RunPage::setLook(std::int64_t look) {
    if (std::exchange(m_look, look) != look) updatePlots();
}

// All in the colour that the trial has everywhere; a plot's second curve is dashed.
void RunPage::updatePlots() {
    const RunRecord& record = m_feed->record();
    const TaskMetrics& metrics = record.metrics();
    if (record.started() && m_quality != metrics.quality) {
        m_quality = metrics.quality;
        if (m_quality->unit == MetricUnit::Odds) {
            m_plots[kQuality]->setLook({tr("Perplexity"), emptyText(), {}, {}, {}});
            m_plots[kQuality]->setLog(true);  // from some hundred down to a few
        }
        if (record.isLanguageModel())
            m_plots[kRate]->setLook({tr("Sequences/s"), emptyText(), &runCount, &runCount, {}});
    }
    const double perEpoch = record.started() ? static_cast<double>(record.started()->stepsPerEpoch) : 0;
    const auto series = [&](const QString& name, std::string_view curve, bool smoothed, bool second = false) {
        return PlotSeries{name, record.curve(curve), m_look, seriesMarker(m_look), perEpoch, smoothed, second};
    };
    // The test samples that do not choose are looked at once: a point says less than the number in the text.
    const QString chooses = metrics.objective->split == Split::Validation ? tr("validation") : tr("test");
    m_plots[kLoss]->setSeries({series(tr("train"), "loss", true), series(chooses, metrics.loss->key, false, true)});
    const auto measured = [](const Metric& metric) { return metric.derive ? metric.from : metric.key; };
    PlotSeries train = series(tr("train"), measured(*metrics.training), true);
    PlotSeries other = series(chooses, measured(*metrics.quality), false, true);
    if (metrics.training->derive) train.curve = m_derivedTraining.follow(train.curve, *metrics.training);
    if (metrics.quality->derive) other.curve = m_derivedQuality.follow(other.curve, *metrics.quality);
    m_plots[kQuality]->setSeries({std::move(train), std::move(other)});
    std::vector<PlotSeries> rates{series(tr("total"), "samples_per_second", true)};
    if (record.ranks() > 1) rates.push_back(series(tr("per device"), kRatePerDevice, true, true));
    m_plots[kRate]->setSeries(std::move(rates));
    m_plots[kLearningRate]->setSeries({series(tr("learning rate"), "learning_rate", false)});
    const auto moments = momentsOf(record);
    for (PlotView* plot : m_plots) {
        plot->setMoments(moments);
        plot->refresh();
    }
}

void RunPage::updateText() {
    const RunRecord& record = m_feed->record();
    m_text->setVisible(record.isLanguageModel());
    m_text->setSamples(record.texts(), isFinal(m_feed->state()));
}

void RunPage::buildTiles(const RunStarted& started) {
    for (DeviceTile* tile : m_tiles) delete tile;
    m_tiles.clear();
    for (std::size_t rank = 0; rank < started.devices.size(); ++rank) {
        auto* tile = new DeviceTile(static_cast<int>(rank), QString::fromStdString(started.devices[rank]),
                                    started.virtualDevices);
        m_tiles.push_back(tile);
    }
    arrangeTiles();
}

void RunPage::arrangeTiles() {
    const int columns = tileColumns(static_cast<int>(m_tiles.size()), width() - 2 * space::kPage);
    if (columns == m_tileColumns && m_tileGrid->count() == static_cast<int>(m_tiles.size())) return;
    m_tileColumns = columns;
    for (int at = 0; at < static_cast<int>(m_tiles.size()); ++at) {
        m_tileGrid->addWidget(m_tiles[static_cast<std::size_t>(at)], at / columns, at % columns);
    }
}

// The buttons go below the title where there is no room beside it.
void RunPage::arrangeHeader() {
    const int needed = m_title->sizeHint().width() + m_state->sizeHint().width() + m_buttons->sizeHint().width();
    const bool fits = needed + 2 * (space::kPage + space::kLarge) <= width();
    m_top->setDirection(fits ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
}

void RunPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrangeHeader();
    arrangeTiles();
}

void RunPage::updateTiles() {
    const RunRecord& record = m_feed->record();
    if (!record.started()) return;
    if (record.started()->devices != m_tileDevices) buildTiles(*record.started());
    m_tileDevices = record.started()->devices;
    for (std::size_t rank = 0; rank < std::min(m_tiles.size(), record.ranks()); ++rank)
        m_tiles[rank]->setLoad(record.mean(rank));
}

void RunPage::updateMessages() {
    const auto& notes = m_feed->record().notes();
    if (static_cast<std::size_t>(m_messages->count()) > notes.size()) m_messages->clear();
    for (auto i = static_cast<std::size_t>(m_messages->count()); i < notes.size(); ++i) {
        m_messages->addItem(liveNote(notes[i], m_explain));
        m_messages->scrollToBottom();
    }
    for (QWidget* each : {static_cast<QWidget*>(m_messagesTitle), static_cast<QWidget*>(m_messages)})
        each->setVisible(!notes.empty());
}

}  // namespace lockstep::ui
