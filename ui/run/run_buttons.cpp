#include "ui/run/run_buttons.h"

#include <QAction>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>

#include "ui/style/menu_button.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kMostDevices = 256;

QString idOf(RunAction action) {
    switch (action) {
        case RunAction::Pause: return "run.pause";
        case RunAction::Resume: return "run.resume";
        case RunAction::FinishEpoch: return "run.finish-epoch";
        case RunAction::StopNow: return "run.stop";
        case RunAction::Kill: return "run.kill";
        case RunAction::ResumeFromCheckpoint: return "run.resume-from-checkpoint";
        case RunAction::Scale: return "run.scale";
        case RunAction::Balance: return "run.balance";
    }
    return {};
}

QString helpOf(const QString& meaning, const QKeySequence& keys) {
    return keys.isEmpty() ? meaning : QString("%1 (%2)").arg(meaning, keys.toString(QKeySequence::NativeText));
}

QString goOnWords(bool hasCheckpoint) {
    return hasCheckpoint ? RunButtons::tr("Resume from the last checkpoint") : RunButtons::tr("Begin again");
}

}  // namespace

RunButtons::RunButtons(RunFeed* feed, QWidget* parent) : QWidget(parent), m_feed(feed) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(space::kMedium);
    add(RunAction::Pause, tr("Pause"), tr("F8"),
        tr("Hold the run after the step under way; it keeps its memory and its devices"));
    add(RunAction::Resume, tr("Resume"), tr("F8"), tr("Go on with the paused run"));
    addDevices();
    add(RunAction::FinishEpoch, tr("Finish this epoch"), tr("Shift+F8"),
        tr("Stop after the epoch under way, with its evaluation and a checkpoint"));
    add(RunAction::StopNow, tr("Stop now"), tr("Ctrl+."),
        tr("Stop after the step under way, with a checkpoint to resume from"));
    add(RunAction::Kill, tr("Kill"), {}, tr("End the process at once; what came after the last checkpoint is lost"));
    add(RunAction::ResumeFromCheckpoint, goOnWords(true), tr("Shift+F9"),
        tr("Start the trial again where its last checkpoint was written, or from the start if it made no step"));
    addCard();
}

// A run under way has one, too, but nobody looks for it there: the palette has the command.
void RunButtons::addCard() {
    auto* made = new QAction(tr("Save model card…"), this);
    made->setObjectName("trial.card");
    made->setToolTip(tr("What the model is and does, its limits, curves and settings, as a file"));
    connect(made, &QAction::triggered, this, [this] { emit cardRequested(m_feed->trial()); });
    addAction(made);
    m_card = new QPushButton(made->text());
    m_card->setAccessibleName(made->text());
    m_card->setToolTip(made->toolTip());
    connect(m_card, &QPushButton::clicked, made, &QAction::trigger);
    layout()->addWidget(m_card);
}

QAction* RunButtons::makeAction(RunAction action, const QString& words, const QKeySequence& keys,
                                const QString& meaning) {
    auto* made = new QAction(words, this);
    made->setObjectName(idOf(action));
    made->setShortcut(keys);
    made->setToolTip(helpOf(meaning, keys));
    connect(made, &QAction::triggered, this, [this, action] { press(action); });
    addAction(made);
    return m_actions[static_cast<std::size_t>(action)] = made;
}

void RunButtons::add(RunAction action, const QString& words, const QKeySequence& keys, const QString& meaning) {
    QAction* made = makeAction(action, words, keys, meaning);
    auto* button = new QPushButton(words);
    button->setAccessibleName(words);
    button->setToolTip(made->toolTip());
    connect(button, &QPushButton::clicked, made, &QAction::trigger);
    layout()->addWidget(button);
    m_buttons[static_cast<std::size_t>(action)] = button;
}

// What is wanted rarely shares one button.
void RunButtons::addDevices() {
    auto* menu = new QMenu(this);
    menu->setToolTipsVisible(true);
    menu->addAction(makeAction(RunAction::Scale, tr("Change the number of devices…"), {},
                               tr("Go on from where it stands on more or fewer devices, with the same global batch")));
    menu->addAction(makeAction(RunAction::Balance, tr("Balance the devices"), {},
                               tr("Give each device the part of the batch that fits its measured speed")));
    m_devices = menuButton(tr("Devices"), menu, tr("Change the devices of the run while it goes on"));
    layout()->addWidget(m_devices);
}

// A run that ended badly has its card, with a button of its own to go on.
void RunButtons::refresh() {
    const RunActions actions = m_feed->actions();
    const bool endedBadly = m_feed->state() == RunState::Failed || m_feed->state() == RunState::Crashed;
    for (const RunAction action : kRunActions) {
        const auto at = static_cast<std::size_t>(action);
        const bool enabled = actions.enabled(action) && m_feed->asked() != action;
        m_actions[at]->setEnabled(enabled);
        if (!m_buttons[at]) continue;
        m_buttons[at]->setEnabled(enabled);
        m_buttons[at]->setVisible(actions.shown(action) && !(action == RunAction::ResumeFromCheckpoint && endedBadly));
    }
    const auto resume = static_cast<std::size_t>(RunAction::ResumeFromCheckpoint);
    const QString words = goOnWords(m_feed->keepsCheckpoint() || !actions.enabled(RunAction::ResumeFromCheckpoint));
    m_actions[resume]->setText(words);
    m_buttons[resume]->setText(words);
    m_buttons[resume]->setAccessibleName(words);
    m_card->setVisible(isFinal(m_feed->state()));
    m_devices->setVisible(actions.shown(RunAction::Scale));
    m_devices->setEnabled(actions.enabled(RunAction::Scale));
}

void RunButtons::press(RunAction action) {
    switch (action) {
        case RunAction::Pause: return m_feed->pause();
        case RunAction::Resume: return m_feed->resume();
        case RunAction::FinishEpoch: return m_feed->stopAfterEpoch();
        case RunAction::StopNow: return m_feed->stop();
        case RunAction::Kill: return askBeforeKill();
        case RunAction::ResumeFromCheckpoint: emit resumeRequested(m_feed->trial()); return;
        case RunAction::Scale: return askHowMany();
        case RunAction::Balance: return m_feed->balance();
    }
}

void RunButtons::askHowMany() {
    auto* box = new QInputDialog(this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setWindowTitle(tr("Devices of the run"));
    box->setLabelText(
        tr("Go on with so many devices. They share the global batch,\nwhich stays as it is; no step is lost."));
    box->setInputMode(QInputDialog::IntInput);
    box->setIntRange(1, kMostDevices);
    box->setIntValue(static_cast<int>(m_feed->devices()));
    box->setOkButtonText(tr("Go on"));
    connect(box, &QInputDialog::intValueSelected, m_feed, &RunFeed::scaleTo);
    box->open();
}

void RunButtons::askBeforeKill() {
    auto* box = new QMessageBox(QMessageBox::Warning, tr("Kill the run"), tr("Kill trial %1?").arg(m_feed->trial()),
                                QMessageBox::Cancel, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setInformativeText(
        tr("Its process ends at once. Steps since the last checkpoint are lost; “Stop now” would keep them."));
    connect(box->addButton(tr("Kill"), QMessageBox::DestructiveRole), &QPushButton::clicked, m_feed, &RunFeed::kill);
    box->open();
}

}  // namespace lockstep::ui
