#include "ui/compare/race_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QSettings>
#include <algorithm>
#include <cmath>

#include "ui/compare/race_controls.h"
#include "ui/compare/race_text.h"
#include "ui/compare/race_window.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr auto kClockKey = "compare/raceClock";
constexpr std::size_t kMostRunners = TrialSelection::kMostPlaces;

QString unrounded(double value) { return std::isfinite(value) ? QString::number(value, 'g', 17) : QString(); }

}  // namespace

RaceView::RaceView(HistoryService* history, TrialSelection* selection, QWidget* parent)
    : CompareView(selection, parent), m_history(*history), m_controls(new RaceControls(&m_player, false, this)) {
    setObjectName("raceView");
    setMinimumHeight(220);
    setFocusPolicy(Qt::StrongFocus);
    const auto followMotion = [this] { m_player.setMotionReduced(m_motion.isReduced()); };
    connect(&m_motion, &MotionPreference::changed, this, followMotion);
    followMotion();
    m_controls->setClock(m_clock);
    connect(m_controls, &RaceControls::clockChosen, this, &RaceView::setClock);
    connect(m_controls, &RaceControls::largeWanted, this, &RaceView::showLarge);
    connect(history, &HistoryService::unreadable, this,
            [this] { m_asked = m_read; });  // what was asked is not answered
    connect(&m_player, &RacePlayer::moved, this, qOverload<>(&QWidget::update));
    connect(&m_player, &RacePlayer::changed, this, &RaceView::wordsChanged);
}

RaceView::~RaceView() { delete m_window; }  // it looks at the player

RaceView::Asked RaceView::wanted() const {
    const CompareTable& table = *scene()->table;
    Asked asked{.table = scene()->table};
    if (!table.objective) return asked;
    const CompareAxis& objective = table.axes[*table.objective];
    if (objective.metric) asked.metric = objective.metric->key;
    for (const std::int64_t trial : selection().pinned())
        if (table.rowOf(trial) && asked.trials.size() < kMostRunners) asked.trials.push_back(trial);
    if (asked.trials.size() >= 2) return asked;
    asked.trials.clear();
    for (const std::size_t row : scene()->ranking) {
        if (asked.trials.size() == kMostRunners) break;
        if (scene()->passes[row] && std::isfinite(objective.values[row]))
            asked.trials.push_back(table.trials[row].trial);
    }
    return asked;
}

void RaceView::sceneChanged() {
    if (!ask()) makeRace();  // another target
}

void RaceView::lightChanged() {
    if (!ask() && isCurrent()) m_look = lookOf(m_player.race());  // pins have colours
    update();
    if (m_window) m_window->update();
}

bool RaceView::isCurrent() const { return m_isRead && m_read == m_asked && m_read.table == scene()->table; }

// True: it waits for an answer. Of several requests only the newest counts.
bool RaceView::ask() {
    const Asked asked = wanted();
    if (asked == m_asked) return !m_isRead;
    m_asked = asked;
    m_history.readProgress(asked.trials, asked.metric,
                           [asked, view = QPointer(this)](const std::shared_ptr<const ProgressOfTrials>& progress) {
                               if (view && view->m_asked == asked) view->take(asked, *progress);
                           });
    return true;
}

void RaceView::take(const Asked& asked, const ProgressOfTrials& progress) {
    m_read = asked;
    m_progress = progress;
    m_isRead = true;
    makeRace();
}

RunnerFate RaceView::fateOf(std::size_t row) const {
    const ComparedTrial& trial = scene()->table->trials[row];
    if (trial.isCutShort) return RunnerFate::Stopped;
    return trial.hasFailed() ? RunnerFate::Failed : RunnerFate::Ran;
}

// The look first: whoever draws finds as many lanes as runners.
void RaceView::makeRace() {
    if (!scene() || !isCurrent()) return;
    const CompareTable& table = *scene()->table;
    std::vector<Runner> runners;
    for (const std::int64_t trial : m_read.trials) {
        Runner runner{trial, fateOf(*table.rowOf(trial))};
        if (const auto known = m_progress.find(trial); known != m_progress.end()) {
            runner.points = known->second->evaluations;
            runner.stepsPerEpoch = known->second->worlds.stepsPerEpoch();
        }
        runners.push_back(std::move(runner));
    }
    RaceRules rules{.target = scene()->target, .clock = m_clock};
    if (table.objective) rules.better = table.axes[*table.objective].better;
    Race race(std::move(runners), rules);
    m_look = lookOf(race);
    m_player.setRace(std::move(race));
}

RaceLook RaceView::lookOf(const Race& race) const {
    const auto table = scene()->table;
    RaceLook look;
    if (!table->objective) return look;
    look.objective = table->axes[*table->objective].name;
    look.text = [table](double value) { return table->axes[*table->objective].text(value); };
    for (const Runner& each : race.runners()) {
        const ComparedTrial& trial = table->trials[*table->rowOf(each.trial)];
        const auto place = selection().placeOf(each.trial);
        look.lanes.push_back({.name = trial.name,
                              .words = trial.words,
                              .color = place ? seriesColor(*place, currentTheme()) : currentTheme().accent,
                              .place = place});
    }
    return look;
}

void RaceView::setClock(PlotAxis clock) {
    m_clock = clock;
    m_controls->setClock(clock);
    if (m_window) m_window->controls().setClock(clock);
    makeRace();
}

void RaceView::save(QSettings& settings) const { settings.setValue(kClockKey, static_cast<int>(m_clock)); }

void RaceView::restore(const QSettings& settings) {
    const auto kept = static_cast<PlotAxis>(settings.value(kClockKey, static_cast<int>(m_clock)).toInt());
    if (std::ranges::find(kRaceClocks, kept) != kRaceClocks.end()) setClock(kept);
}

void RaceView::showLarge() {
    if (m_window) return m_window->close(), void();
    m_window = new RaceWindow(
        &m_player, [this]() -> const RaceLook& { return m_look; }, this);
    m_window->controls().setClock(m_clock);
    connect(&m_window->controls(), &RaceControls::clockChosen, this, &RaceView::setClock);
    m_window->showFullScreen();
    m_window->activateWindow();
    m_window->setFocus();
}

QString RaceView::emptyText() const {
    const CompareTable& table = *scene()->table;
    if (const QString why = table.whyNoValues(); !why.isEmpty()) return why;
    if (!m_isRead || m_player.race().end() > 0) return {};
    return tr("None of these trials has been evaluated by this metric: %1.").arg(table.axes[*table.objective].name);
}

QString RaceView::summary() const {
    const Race& race = m_player.race();
    if (!m_isRead) return tr("Being read.");
    QStringList order;
    for (const RunnerState& state : m_player.standing()) {
        const QString name = m_look.lanes[state.runner].name;
        const QString value = std::isfinite(state.best) ? m_look.text(state.best) : tr("no value");
        if (state.reachedAt) order << tr("%1 reached it after %2").arg(name, raceFinishText(race, state.runner));
        else order << tr("%1 %2").arg(name, value);
    }
    const QString target = race.rules().target ? tr(", target %1").arg(m_look.text(*race.rules().target)) : QString();
    return tr("%1 trials by %2%3; %4: %5.")
        .arg(order.size())
        .arg(m_look.objective, target, raceMoment(m_clock, m_player.at(), race.end()), order.join(", "));
}

QByteArray RaceView::csv() const {
    QString text = "place,trial,reached_at,value\r\n";
    int place = 0;
    for (const RunnerState& state : m_player.standing())
        text += QString("%1,%2,%3,%4\r\n")
                    .arg(++place)
                    .arg(m_player.race().runners()[state.runner].trial)
                    .arg(state.reachedAt ? unrounded(*state.reachedAt) : QString(), unrounded(state.best));
    return text.toUtf8();
}

QRectF RaceView::canvas() const { return QRectF(rect()).adjusted(0, 0, 0, -m_controls->height() - space::kSmall); }

RacePicture RaceView::picture(const std::vector<RacePlayer::Drawn>& drawn, const QRectF& area) const {
    return {m_player, drawn, m_look, area, font()};
}

void RaceView::paintPicture(QPainter& painter, const QRectF& area) const {
    if (m_look.lanes.empty()) return;
    const auto drawn = m_player.settled();
    picture(drawn, area).paint(painter, std::nullopt);
}

void RaceView::paintEvent(QPaintEvent*) {
    if (!scene()) return;
    QPainter painter(this);
    if (!m_look.lanes.empty()) return picture(m_player.drawn(), canvas()).paint(painter, litRunner());
    painter.setPen(currentTheme().muted);
    painter.drawText(canvas(), Qt::AlignCenter, tr("Being read…"));
}

std::optional<std::size_t> RaceView::litRunner() const {
    const auto trial = selection().hovered();
    const auto& runners = m_player.race().runners();
    const auto found = trial ? std::ranges::find(runners, *trial, &Runner::trial) : runners.end();
    return found == runners.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - runners.begin()));
}

std::optional<std::size_t> RaceView::rowAt(QPointF at) const {
    if (!scene() || m_look.lanes.empty()) return std::nullopt;
    const auto runner = picture(m_player.drawn(), canvas()).runnerAt(at);
    return runner ? scene()->table->rowOf(m_player.race().runners()[*runner].trial) : std::nullopt;
}

QString RaceView::tip(std::size_t row) const {
    const ComparedTrial& trial = scene()->table->trials[row];
    QStringList lines{trial.name};
    if (!trial.words.isEmpty()) lines << trial.words;
    for (const RunnerState& state : m_player.standing()) {
        if (m_player.race().runners()[state.runner].trial != trial.trial || !std::isfinite(state.best)) continue;
        lines << tr("best %1, last %2").arg(m_look.text(state.best), m_look.text(state.value));
        if (state.reachedAt) lines << tr("at the target after %1").arg(raceFinishText(m_player.race(), state.runner));
    }
    return lines.join('\n');
}

void RaceView::mouseMoveEvent(QMouseEvent* event) {
    const auto row = rowAt(event->position());
    if (scene()) hover(row);
    setToolTip(row ? tip(*row) : QString());
}

void RaceView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const auto row = rowAt(event->position())) togglePin(*row);
}

void RaceView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const auto row = rowAt(event->position())) openClicked(*row);
}

void RaceView::resizeEvent(QResizeEvent* event) {
    CompareView::resizeEvent(event);
    const int high = m_controls->sizeHint().height();
    m_controls->setGeometry(0, height() - high, width(), high);
}

void RaceView::showEvent(QShowEvent* event) {
    m_player.setWatched(this, true);
    CompareView::showEvent(event);
    if (scene()) ask();  // pins may have changed meanwhile
}

void RaceView::hideEvent(QHideEvent* event) {
    m_player.setWatched(this, false);
    CompareView::hideEvent(event);
}

// Keys of the window's own commands mean the race while it has the focus.
bool RaceView::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_F11 || key == Qt::Key_Space) return event->accept(), true;
    }
    if (event->type() == QEvent::PaletteChange) makeRace();
    return CompareView::event(event);
}

void RaceView::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_F11) showLarge();
    else if (!RaceControls::handleKey(m_player, event->key())) CompareView::keyPressEvent(event);
}

}  // namespace lockstep::ui
