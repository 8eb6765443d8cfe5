#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QInputDialog>
#include <QMenu>
#include <QToolBar>
#include <algorithm>

#include "ui/queue/queue_order.h"
#include "ui/queue/queue_page.h"
#include "ui/queue/queue_table.h"
#include "ui/queue/queue_text.h"
#include "ui/queue/sweep_list.h"
#include "ui/style/action_bar.h"

// What can be done on the page, each by a command that a terminal has, too.
namespace lockstep::ui {

namespace {

constexpr int kMoreCells = 10, kMostCells = 1'000'000;

}  // namespace

QAction* QueuePage::addQueueAction(const QString& id, const QString& button, const QString& text, const QString& tip,
                                   const QKeySequence& keys, std::function<void()> slot) {
    auto* action = new QAction(text, this);
    action->setObjectName("queue." + id);
    action->setIconText(button);
    action->setShortcut(keys);
    action->setShortcutContext(Qt::WidgetShortcut);
    action->setToolTip(keys.isEmpty() ? tip : tip + " (" + keys.toString(QKeySequence::NativeText) + ")");
    connect(action, &QAction::triggered, this, std::move(slot));
    m_table->addAction(action);
    return action;
}

void QueuePage::makeActions() {
    auto& a = m_actions;
    a.open = addQueueAction("open", tr("Open"), tr("Open the trial"), tr("Show the trial on its page"), Qt::Key_Return,
                            [this] { openChosen(); });
    a.open->setShortcuts({QKeySequence(Qt::Key_Return), QKeySequence(Qt::Key_Enter)});
    a.hold =
        addQueueAction("hold", tr("Hold"), tr("Hold the trials"), tr("Do not start them until they are released"),
                       QKeySequence("Ctrl+H"), [this] { change(heldOf(m_model.rows(), m_table->chosen(), true)); });
    a.release = addQueueAction("release", tr("Release"), tr("Release the trials"), tr("Let them take their turn"),
                               QKeySequence("Ctrl+Shift+H"),
                               [this] { change(heldOf(m_model.rows(), m_table->chosen(), false)); });
    makeMoves();
    a.after = addQueueAction("after", tr("After…"), tr("Run after another trial…"),
                             tr("Start the trials once another one has ended"), QKeySequence("Alt+A"),
                             [this] { askForOther(); });
    a.notAfter =
        addQueueAction("not-after", tr("Not after"), tr("Wait for no other trial"),
                       tr("Let the trials take their turn, whatever becomes of the one they were to come after"), {},
                       [this] { change(afterOf(m_model.rows(), m_table->chosen(), 0)); });
    a.cancel = addQueueAction("cancel", tr("Cancel"), tr("Cancel the trials"),
                              tr("Take them out: what waits is cancelled, what runs stops with a checkpoint"),
                              QKeySequence::Delete, [this] { change(cancelledOf(m_model.rows(), m_table->chosen())); });
    a.command = addQueueAction("copy-command", tr("Copy command"), tr("Copy as command line"),
                               tr("Copy the command for what was done last, or the one that lists the queue"),
                               QKeySequence::Copy, [this] { copyCommand(); });
    a.start = addQueueAction("start", tr("Start"), tr("Start the queue"), tr("Start what waits, where nothing does so"),
                             {}, [this] { change({QueueStep{}}); });
    a.ended = addQueueAction("show-ended", tr("Ended sweeps"), tr("Show ended sweeps"),
                             tr("Those that have finished or were cancelled, too"), {}, [] {});
    a.ended->setCheckable(true);
    connect(a.ended, &QAction::toggled, this, [this](bool shows) {
        m_sweeps->setShowsEnded(shows);
        showState();
    });
}

void QueuePage::makeMoves() {
    using Way = QueueSteps (*)(std::span<const QueueEntry>, const ChosenTrials&);
    const auto add = [this](const QString& id, const QString& button, const QString& text, const QString& tip,
                            const QString& keys, Way way) {
        return addQueueAction(id, button, text, tip, QKeySequence(keys),
                              [this, way] { change(way(waiting(), m_table->chosen())); });
    };
    auto& a = m_actions;
    a.first = add("first", tr("First"), tr("Move the trials to the front"), tr("Before all others that wait"),
                  "Alt+Home", &movedFirst);
    a.up = add("up", tr("Up"), tr("Move the trials up"), tr("One place further to the front"), "Alt+Up", &movedUp);
    a.down = add("down", tr("Down"), tr("Move the trials down"), tr("One place further back"), "Alt+Down", &movedDown);
    a.last = add("last", tr("Last"), tr("Move the trials to the end"), tr("Behind all others of their priority"),
                 "Alt+End", &movedLast);
    a.raise = add(
        "priority-up", tr("Raise"), tr("Raise the trials' priority"), tr("Higher priorities go first"), "Alt++",
        [](std::span<const QueueEntry> entries, const ChosenTrials& chosen) { return raisedBy(entries, chosen, 1); });
    a.lower = add(
        "priority-down", tr("Lower"), tr("Lower the trials' priority"), tr("Lower priorities go last"), "Alt+-",
        [](std::span<const QueueEntry> entries, const ChosenTrials& chosen) { return raisedBy(entries, chosen, -1); });
}

QList<QAction*> QueuePage::commands() const {
    const auto& a = m_actions;
    return {a.open,  a.hold,  a.release,  a.first,  a.up,      a.down,  a.last, a.raise,
            a.lower, a.after, a.notAfter, a.cancel, a.command, a.start, a.ended};
}

void QueuePage::buildBar(QToolBar& bar) {
    makeActions();
    const auto& a = m_actions;
    bar.addActions({a.open, a.hold, a.release});
    bar.addSeparator();
    bar.addActions({a.first, a.up, a.down, a.last});
    bar.addSeparator();
    bar.addActions({a.raise, a.lower});
    bar.addSeparator();
    bar.addActions({a.cancel, a.after, a.command});
    dressActionBar(bar);
}

void QueuePage::enableActions() {
    const auto& a = m_actions;
    const QueueActions can = actionsFor(m_model.rows(), m_table->chosen());
    a.open->setEnabled(can.open);
    a.hold->setEnabled(can.hold);
    a.release->setEnabled(can.release);
    a.first->setEnabled(can.first);
    a.up->setEnabled(can.up);
    a.down->setEnabled(can.down);
    a.last->setEnabled(can.last);
    a.raise->setEnabled(can.priority);
    a.lower->setEnabled(can.priority);
    a.after->setEnabled(can.after);
    a.notAfter->setEnabled(can.notAfter);
    a.cancel->setEnabled(can.cancel);
    a.start->setEnabled(m_isStalled);
}

void QueuePage::showContextMenu(const QPoint& at) {
    const auto& a = m_actions;
    QMenu menu(this);
    menu.setToolTipsVisible(true);
    menu.addActions({a.open, a.hold, a.release});
    menu.addSeparator();
    menu.addActions({a.first, a.up, a.down, a.last, a.raise, a.lower});
    menu.addSeparator();
    menu.addActions({a.after, a.notAfter});
    menu.addSeparator();
    menu.addActions({a.cancel, a.command});
    menu.exec(m_table->viewport()->mapToGlobal(at));
}

void QueuePage::openChosen() {
    const ChosenTrials chosen = m_table->chosen();
    if (chosen.size() == 1) emit openRequested(*chosen.begin());
}

void QueuePage::copyCommand() {
    const QString before = m_latest.empty() ? QStringLiteral("lockstep queue") : commandsOf(m_latest);
    const QString command = m_written.isEmpty() ? before : m_written;
    QGuiApplication::clipboard()->setText(command);
    showNotice(tr("Copied: %1").arg(command.section('\n', 0, 0)), false);
}

void QueuePage::askForOther() {
    const ChosenTrials chosen = m_table->chosen();
    QStringList names;
    std::vector<std::int64_t> trials;
    for (const QueueRow* each : awaitable(m_model.rows(), chosen)) {
        names << queueTrialText(*each);
        trials.push_back(each->line.entry.trial);
    }
    if (names.isEmpty()) return;
    const QString title = chosen.size() == 1 ? tr("Run trial %1 after another").arg(*chosen.begin())
                                             : tr("Run %1 trials after another").arg(chosen.size());
    bool isMeant = false;
    const QString name =
        QInputDialog::getItem(this, title, tr("Start only once this trial has ended:"), names, 0, false, &isMeant);
    const auto at = names.indexOf(name);
    if (isMeant && at >= 0) change(afterOf(m_model.rows(), chosen, trials[static_cast<std::size_t>(at)]));
}

void QueuePage::askForCells(qint64 sweep, qint64 cells) {
    const int has = static_cast<int>(std::min<qint64>(cells, kMostCells - kMoreCells));
    bool isMeant = false;
    const int wanted = QInputDialog::getInt(this, tr("More cells for sweep %1").arg(sweep), tr("Cells to try in all:"),
                                            has + kMoreCells, has + 1, kMostCells, 1, &isMeant);
    if (isMeant) change({{QueueStep::Verb::ExtendSweep, sweep, wanted}});
}

}  // namespace lockstep::ui
