#include "ui/queue/sweep_card.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/plot/parts_bar.h"
#include "ui/queue/rung_picture.h"
#include "ui/queue/sweep_text.h"
#include "ui/style/elided_label.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

template <class Label = QLabel>
Label* sweepLabel(const char* name, const char* role) {
    auto* label = new Label;
    label->setObjectName(name);
    label->setProperty("role", role);
    return label;
}

QLabel* wrappedLabel(const char* name, const char* role) {
    auto* label = sweepLabel(name, role);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

void showText(QLabel& label, const QString& text) {
    label.setText(text);
    label.setVisible(!text.isEmpty());
}

QColor groupColor(GroupState state, const Theme& theme) {
    switch (state) {
        case GroupState::Active: return theme.accent;
        case GroupState::Finished: return theme.good;
        case GroupState::Failed: return theme.bad;
        case GroupState::Paused:
        case GroupState::Cancelled: return theme.warn;
    }
    return theme.text;
}

// What has become of its trials; those to come are what is left of the bar.
std::vector<PartsBar::Part> partsOf(const SweepResult& sweep) {
    const std::int64_t made = sweep.finished + sweep.failed + sweep.paused + sweep.halted + sweep.running;
    const auto all = static_cast<double>(std::max<std::int64_t>({sweep.planned, made, 1}));
    const auto part = [all](std::int64_t count, QColor Theme::*color) {
        return PartsBar::Part{static_cast<double>(count) / all, color};
    };
    return {part(sweep.finished, &Theme::good), part(sweep.failed, &Theme::bad),
            part(sweep.paused + sweep.halted, &Theme::outline), part(sweep.running, &Theme::accent)};
}

}  // namespace

SweepCard::SweepCard(Explain explain, QWidget* parent)
    : QFrame(parent),
      m_explain(std::move(explain)),
      m_title(sweepLabel<ElidedLabel>("sweepTitle", "heading")),
      m_state(sweepLabel("sweepState", "")),
      m_progress(wrappedLabel("sweepProgress", "muted")),
      m_best(wrappedLabel("sweepBest", "heading")),
      m_cell(wrappedLabel("sweepBestCell", "")),
      m_disk(wrappedLabel("sweepDisk", "muted")),
      m_problem(wrappedLabel("sweepProblem", "problem")),
      m_bar(new PartsBar),
      m_rungs(new RungPicture) {
    setProperty("card", true);
    setObjectName("sweepCard");
    m_state->setTextFormat(Qt::RichText);
    using Verb = QueueStep::Verb;
    m_pause =
        addButton("pauseSweep", tr("Pause"), tr("Start no more of its trials; what runs goes on"), Verb::PauseSweep);
    m_goOn = addButton("continueSweep", tr("Continue"), tr("Start its trials again"), Verb::ContinueSweep);
    m_cancel = addButton("cancelSweep", tr("Cancel"), tr("Stop what runs, with checkpoints, and cancel what waits"),
                         Verb::CancelSweep);
    m_retry = addButton("retrySweep", tr("Retry"),
                        tr("Try what has failed or was cancelled once more, and make anew what was deleted"),
                        Verb::RetrySweep);
    m_extend = new QPushButton(tr("More cells…"));
    m_extend->setObjectName("extendSweep");
    m_extend->setToolTip(tr("Go on beyond what was planned"));
    connect(m_extend, &QPushButton::clicked, this, [this] { emit extensionWanted(m_sweep, m_cells); });
    auto* head = new QHBoxLayout;
    head->addWidget(m_title, 1);
    head->addWidget(m_state);
    auto* buttons = new QHBoxLayout;
    for (QPushButton* each : {m_pause, m_goOn, m_cancel, m_retry, m_extend}) buttons->addWidget(each);
    buttons->addStretch();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(space::kLarge, space::kMedium, space::kLarge, space::kMedium);
    column->setSpacing(space::kSmall);
    column->addLayout(head);
    column->addWidget(m_bar);
    column->addWidget(m_progress);
    column->addWidget(m_rungs);
    for (QLabel* each : {m_best, m_cell}) column->addWidget(each);
    column->addLayout(makeLinks());
    for (QLabel* each : {m_disk, m_problem}) column->addWidget(each);
    column->addLayout(buttons);
}

// The ways from the sweep to what it has made.
QHBoxLayout* SweepCard::makeLinks() {
    m_openBest = new QPushButton;
    m_openBest->setObjectName("openBestTrial");
    m_openBest->setToolTip(tr("Show the best trial of the best cell on its page"));
    m_showTrials = new QPushButton(tr("Show in Trials"));
    m_showTrials->setObjectName("showInTrials");
    m_showTrials->setToolTip(tr("Show the trials of this sweep alone, in the table of trials"));
    connect(m_openBest, &QPushButton::clicked, this, [this] { emit trialWanted(m_bestTrial); });
    connect(m_showTrials, &QPushButton::clicked, this, [this] { emit trialsWanted(m_sweep); });
    m_compare = new QPushButton(tr("Compare"));
    m_compare->setObjectName("compareSweep");
    m_compare->setToolTip(tr("See what the settings do, side by side"));
    connect(m_compare, &QPushButton::clicked, this, [this] { emit compareWanted(m_sweep); });
    m_report = new QPushButton(tr("Report…"));
    m_report->setObjectName("reportSweep");
    m_report->setToolTip(tr("Write its settings, charts, results and how to repeat them on one page for others"));
    connect(m_report, &QPushButton::clicked, this, [this] { emit reportWanted(m_sweep); });
    auto* links = new QHBoxLayout;
    for (QPushButton* each : {m_openBest, m_showTrials, m_compare, m_report}) links->addWidget(each);
    links->addStretch();
    return links;
}

void SweepCard::showLinks(const SweepRow& sweep) {
    m_bestTrial = sweep_text::bestTrial(sweep);
    m_openBest->setText(tr("Open the best: trial %1").arg(m_bestTrial));
    m_openBest->setVisible(m_bestTrial > 0);
    m_showTrials->setVisible(sweep.isReadable && !sweep.result.cells.empty());
    m_compare->setVisible(m_showTrials->isVisibleTo(this));
    m_report->setVisible(sweep.isReadable);
}

QPushButton* SweepCard::addButton(const QString& name, const QString& text, const QString& tip, QueueStep::Verb verb) {
    auto* button = new QPushButton(text);
    button->setObjectName(name);
    button->setToolTip(tip);
    connect(button, &QPushButton::clicked, this, [this, verb] { emit stepWanted({verb, m_sweep}); });
    return button;
}

void SweepCard::setSweep(const SweepRow& sweep, std::uint64_t available) {
    const SweepResult& result = sweep.result;
    m_sweep = result.group.id;
    m_cells = result.spec.trials;
    m_group = result.group.state;
    m_bar->setParts(partsOf(result));
    m_bar->setVisible(sweep.isReadable);
    showRungs(sweep);
    showWords(sweep, available);
    showLinks(sweep);
    showState();
    const SweepActions can = actionsFor(sweep);
    m_pause->setVisible(can.pause);
    m_goOn->setVisible(can.goOn);
    m_cancel->setVisible(can.cancel);
    m_retry->setVisible(can.retry);
    m_extend->setVisible(can.extend);
    for (QPushButton* each : {m_openBest, m_showTrials, m_report, m_pause, m_goOn, m_cancel, m_retry, m_extend})
        each->setAccessibleName(tr("%1: sweep %2").arg(each->text()).arg(m_sweep));
}

void SweepCard::showRungs(const SweepRow& sweep) {
    auto rungs = sweep_text::rungs(sweep);
    m_rungs->setVisible(!rungs.empty());
    m_rungs->setRungs(std::move(rungs));
}

void SweepCard::showWords(const SweepRow& sweep, std::uint64_t available) {
    QStringList words{sweep_text::progress(sweep), sweep_text::left(sweep)};
    words.removeAll(QString());
    m_title->setText(sweep_text::title(sweep));
    showText(*m_progress, words.join(", "));
    m_bar->setAccessibleName(m_progress->text());
    showText(*m_best, sweep_text::best(sweep));
    showText(*m_cell, sweep_text::bestCell(sweep));
    showText(*m_disk, sweep_text::disk(sweep));
    QStringList problems{sweep_text::diskWarning(sweep, available)};
    if (sweep.problem) problems << m_explain(*sweep.problem).inTwoLines();
    problems.removeAll(QString());
    showText(*m_problem, problems.join('\n'));
}

void SweepCard::showState() {
    const QString state = QString::fromStdString(std::string(text(m_group)));
    m_state->setText(
        QString("<span style='color:%1'>%2</span>").arg(groupColor(m_group, currentTheme()).name(), state));
    m_state->setAccessibleName(tr("State of the sweep: %1").arg(state));
}

void SweepCard::changeEvent(QEvent* event) {
    QFrame::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_sweep > 0) showState();
}

}  // namespace lockstep::ui
