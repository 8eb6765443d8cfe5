#include <QAction>
#include <QLineEdit>
#include <QMenu>
#include <QToolBar>
#include <QToolButton>

#include "ui/style/action_bar.h"
#include "ui/trials/compare_pane.h"
#include "ui/trials/trials_page.h"
#include "ui/trials/trials_table.h"

// The page's actions, and where they stand: bar, menu of the rare ones, context menu.
namespace lockstep::ui {

namespace {

QToolButton* menuButton(const QString& text, const QString& name, const QString& tip, QMenu* menu) {
    auto* button = new QToolButton;
    button->setText(text);
    button->setAccessibleName(name);
    button->setToolTip(tip);
    button->setMenu(menu);
    button->setPopupMode(QToolButton::InstantPopup);
    return button;
}

}  // namespace

QAction* TrialsPage::addTrialAction(const QString& id, const QString& button, const QString& text, const QString& tip,
                                    const QKeySequence& keys, void (TrialsPage::*slot)()) {
    auto* action = new QAction(text, this);
    action->setObjectName("trials." + id);
    action->setIconText(button);
    action->setShortcut(keys);
    action->setShortcutContext(Qt::WidgetShortcut);
    action->setToolTip(keys.isEmpty() ? tip : tip + " (" + keys.toString(QKeySequence::NativeText) + ")");
    connect(action, &QAction::triggered, this, slot);
    m_table->addAction(action);
    return action;
}

void TrialsPage::makeActions() {
    auto& a = m_actions;
    a.open = addTrialAction("open", tr("Open"), tr("Open the trial"), tr("Show the trial on its page"), Qt::Key_Return,
                            &TrialsPage::openSelected);
    a.open->setShortcuts({QKeySequence(Qt::Key_Return), QKeySequence(Qt::Key_Enter)});
    a.evaluate = addTrialAction("evaluate", tr("Evaluate"), tr("Evaluate the trial"),
                                tr("What its model gets right and wrong; ask it"), QKeySequence("Ctrl+Shift+E"),
                                &TrialsPage::evaluateSelected);
    a.clone = addTrialAction("clone", tr("Clone"), tr("Clone the trial into the form"),
                             tr("Put these settings into the form of a new trial"), QKeySequence("Ctrl+Shift+D"),
                             &TrialsPage::cloneSelected);
    a.resume = addTrialAction("resume", tr("Resume"), tr("Resume the trial"), tr("Go on from the last checkpoint"),
                              QKeySequence("Ctrl+Shift+R"), &TrialsPage::resumeSelected);
    a.star = addTrialAction("star", tr("Star"), tr("Star the trials"), tr("Mark what you want to find again"),
                            QKeySequence("Ctrl+D"), &TrialsPage::toggleStar);
    a.tag =
        addTrialAction("tag", tr("Tags…"), tr("Tag the trials…"), tr("Words of your own, to group and find trials by"),
                       QKeySequence("Ctrl+T"), &TrialsPage::editTags);
    a.archive = addTrialAction("archive", tr("Archive"), tr("Archive the trials"), tr("Keep, but out of the way"),
                               QKeySequence("Ctrl+Shift+A"), &TrialsPage::toggleArchived);
    a.trash = addTrialAction("delete", tr("Delete"), tr("Delete the trials"), tr("Move to the trash"),
                             QKeySequence::Delete, &TrialsPage::trashSelected);
    a.restore = addTrialAction("restore", tr("Restore"), tr("Restore the trials"), tr("Take out of the trash"), {},
                               &TrialsPage::restoreSelected);
    a.emptying =
        addTrialAction("empty-trash", tr("Empty trash…"), tr("Empty the trash…"),
                       tr("Remove the trash's trials for good, with their checkpoints"), {}, &TrialsPage::emptyTrash);
    a.command =
        addTrialAction("copy-command", tr("Copy command"), tr("Copy as command line"),
                       tr("Copy the command that trains the same"), QKeySequence::Copy, &TrialsPage::copyCommand);
    a.rename = addTrialAction("rename", tr("Rename"), tr("Rename the trial"), tr("Give the trial a title of your own"),
                              Qt::Key_F2, &TrialsPage::renameSelected);
    a.note = addTrialAction("note", tr("Note"), tr("Write a note"), tr("What you want to remember of the trial"),
                            QKeySequence("Ctrl+E"), &TrialsPage::writeNote);
    a.card = addTrialAction("card", tr("Model card…"), tr("Save model card…"),
                            tr("What the model is and does, its limits, curves and settings, as a file"), {},
                            &TrialsPage::saveCard);
    a.card->setObjectName("trial.card");  // the command of whichever page is in front
    a.exporting = addTrialAction("export", tr("Export…"), tr("Export the table…"),
                                 tr("Save the table as it stands, as CSV"), {}, &TrialsPage::chooseExport);
    a.disk =
        addTrialAction("disk", tr("Disk…"), tr("Free disk space…"),
                       tr("What the history takes of the disk, and what of it can go"), {}, &TrialsPage::freeDiskSpace);
    a.group = addTrialAction("group", tr("Group by sweep"), tr("Group the trials by sweep"),
                             tr("Put the trials of a sweep together, beneath what has come of it"),
                             QKeySequence("Ctrl+G"), &TrialsPage::toggleGrouped);
    a.group->setCheckable(true);
    a.compare = addTrialAction("compare", tr("Compare"), tr("Compare the trials"),
                               tr("Lay what the list shows side by side; several selected trials are pinned"),
                               QKeySequence("Ctrl+Shift+C"), &TrialsPage::compareSelected);
    a.find = new QAction(tr("Find trials"), this);
    a.find->setObjectName("trials.find");
    a.find->setShortcut(QKeySequence::Find);
    a.find->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(a.find, &QAction::triggered, m_filter, [this] { m_filter->setFocus(), m_filter->selectAll(); });
    addAction(a.find);
}

QList<QAction*> TrialsPage::commands() const {
    const auto& a = m_actions;
    return {a.open,    a.evaluate, a.clone,   a.resume,   a.command,   a.rename, a.note,  a.card,    a.star, a.tag,
            a.archive, a.trash,    a.restore, a.emptying, a.exporting, a.disk,   a.group, a.compare, a.find};
}

void TrialsPage::buildBar(QToolBar& bar) {
    makeActions();
    const auto& a = m_actions;
    bar.addActions({a.open, a.evaluate, a.compare, a.clone, a.resume});
    bar.addSeparator();
    bar.addActions({a.star, a.tag, a.archive, a.trash, a.restore, a.emptying});
    bar.addSeparator();
    addUndo(bar);
    auto* gap = new QWidget;
    gap->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    bar.addWidget(gap);
    bar.addAction(a.group);
    bar.addWidget(menuButton(tr("Columns ▾"), tr("Columns"), tr("Choose the table's columns"), m_table->columnsMenu()));
    auto* more = new QMenu(this);
    more->setToolTipsVisible(true);
    more->addActions({a.command, a.rename, a.note, a.card, a.exporting, a.disk});
    bar.addWidget(menuButton(tr("More ▾"), tr("More actions"),
                             tr("Command line, title, note, model card, export, disk space"), more));
    dressActionBar(bar);
}

// The actions' texts grow with the step's name; the bar must stand still. Their keys belong to the window.
void TrialsPage::addUndo(QToolBar& bar) {
    auto *undo = m_undo.createUndoAction(this, tr("Undo")), *redo = m_undo.createRedoAction(this, tr("Redo"));
    for (auto* step : {undo, redo}) {
        bar.addAction(step);
        const QString word = step == undo ? tr("Undo") : tr("Redo");
        const QString keys =
            QKeySequence(step == undo ? QKeySequence::Undo : QKeySequence::Redo).toString(QKeySequence::NativeText);
        auto* button = qobject_cast<QToolButton*>(bar.widgetForAction(step));
        const auto name = [=] {
            button->setText(word), button->setToolTip(QString("%1 (%2)").arg(step->text(), keys));
        };
        connect(step, &QAction::changed, button, name);
        name();
    }
}

void TrialsPage::showContextMenu(const QPoint& at) {
    const auto& a = m_actions;
    const auto sweep = m_table->indexAt(at).data(TrialTableModel::SweepRole).toLongLong();
    if (sweep != 0) return showSweepMenu(sweep, at);
    QMenu menu(this);
    menu.addActions({a.open, a.evaluate, a.compare, a.clone, a.resume, a.command, a.card});
    menu.addSeparator();
    menu.addActions({a.rename, a.note, a.star, a.tag, a.archive, a.trash, a.restore});
    menu.addSeparator();
    menu.addMenu(m_table->columnsMenu());
    menu.exec(m_table->viewport()->mapToGlobal(at));
}

void TrialsPage::renameSelected() { m_table->editCell(); }

void TrialsPage::writeNote() {
    if (m_compareSoon.isActive()) {  // the pane does not know yet whose note it is
        m_compareSoon.stop();
        compare();
    }
    m_pane->editNote();
}

}  // namespace lockstep::ui
