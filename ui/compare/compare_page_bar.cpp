#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QToolBar>
#include <algorithm>

#include "ui/compare/compare_list.h"
#include "ui/compare/compare_page.h"
#include "ui/history/command_text.h"
#include "ui/style/action_bar.h"

// What can be done with what is compared.
namespace lockstep::ui {

QAction* ComparePage::addCompareAction(const QString& id, const QString& button, const QString& text,
                                       const QString& tip, const QKeySequence& keys, void (ComparePage::*slot)()) {
    auto* action = new QAction(text, this);
    action->setObjectName(id);
    action->setIconText(button);
    action->setToolTip(tip);
    action->setShortcut(keys);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(action);
    connect(action, &QAction::triggered, this, slot);
    return action;
}

void ComparePage::makeActions() {
    m_actions.open = addCompareAction("compare.open", tr("Open"), tr("Open the trial's run"),
                                      tr("Open the run of the selected trial, or else of the best"),
                                      QKeySequence("Ctrl+Return"), &ComparePage::openChosen);
    m_actions.evaluate = addCompareAction("compare.evaluate", tr("Evaluate"), tr("Look at the trial's mistakes"),
                                          tr("Open the selected trial, or else the best, on the Evaluate page"), {},
                                          &ComparePage::evaluateChosen);
    m_actions.clone = addCompareAction("compare.clone", tr("Clone"), tr("Train again with these settings"),
                                       tr("Put the settings of the selected trial, or else of the best, into the form"),
                                       {}, &ComparePage::cloneChosen);
    m_actions.resume =
        addCompareAction("compare.resume", tr("Resume"), tr("Resume the trial"),
                         tr("Go on from the selected trial's checkpoint"), {}, &ComparePage::resumeChosen);
    m_actions.command = addCompareAction("compare.copy-command", tr("Copy command"), tr("Copy as command line"),
                                         tr("Copy the command that trains the selected trial, or else the best, again"),
                                         {}, &ComparePage::copyCommand);
    m_actions.sweep = addCompareAction("compare.sweep-brushed", tr("New sweep…"), tr("New sweep from what is brushed"),
                                       tr("Search on within the ranges that the brushes leave: opens the form"), {},
                                       &ComparePage::sweepBrushed);
    m_actions.seeds =
        addCompareAction("compare.more-seeds", tr("5 more seeds…"), tr("Train the best with 5 more seeds"),
                         tr("Whether the best is better, or lucky: opens the form"), {}, &ComparePage::trainMoreSeeds);
    m_actions.archive =
        addCompareAction("compare.archive-rest", tr("Archive the rest"), tr("Archive the rest"),
                         tr("Put away the trials that the brushes leave out, but for pinned ones; can be undone"), {},
                         &ComparePage::archiveRest);
    m_actions.pin = addCompareAction("compare.pin", tr("Pin"), tr("Pin the selected trials"),
                                     tr("Give the selected trials a colour of their own in all views"),
                                     QKeySequence("P"), &ComparePage::pinChosen);
    m_actions.unpin = addCompareAction("compare.unpin-all", tr("Unpin all"), tr("Unpin all trials"),
                                       tr("Take their own colours from all trials"), {}, &ComparePage::clearPins);
    m_actions.clear = addCompareAction("compare.clear-brushes", tr("Show all"), tr("Take all brushes off"),
                                       tr("Show all trials again (Esc)"), {}, &ComparePage::clearBrushes);
    m_actions.report = addCompareAction(
        "compare.report", tr("Report…"), tr("Write the sweep's report"),
        tr("Write the sweep's settings, charts, results and how to repeat them on one page for others"), {},
        &ComparePage::askForReport);
    m_actions.reportCommand =
        addCompareAction("compare.copy-report-command", tr("Copy report command"), tr("Copy the report's command line"),
                         tr("Copy the command that writes the sweep's report"), {}, &ComparePage::copyReportCommand);
}

QList<QAction*> ComparePage::commands() const {
    const auto& a = m_actions;
    return {a.open,  a.evaluate, a.clone, a.resume,  a.command, a.pin,          a.unpin,
            a.clear, a.sweep,    a.seeds, a.archive, a.report,  a.reportCommand};
}

void ComparePage::buildBar(QToolBar& bar) {
    bar.addActions({m_actions.open, m_actions.evaluate, m_actions.clone});
    bar.addSeparator();
    bar.addActions({m_actions.pin, m_actions.unpin, m_actions.clear});
    bar.addSeparator();
    bar.addActions({m_actions.sweep, m_actions.seeds, m_actions.archive});
    bar.addSeparator();
    bar.addAction(m_actions.report);
    dressActionBar(bar);
}

void ComparePage::enableActions() {
    const auto chosen = m_list ? m_list->chosen() : std::vector<std::int64_t>();
    const auto one = chosenOne();
    const auto row = one && m_table ? m_table->rowOf(*one) : std::nullopt;
    const bool hasEnded = row && isFinal(m_table->trials[*row].state);
    for (QAction* action : {m_actions.open, m_actions.evaluate, m_actions.clone, m_actions.command})
        action->setEnabled(one.has_value());
    m_actions.resume->setEnabled(hasEnded && chosen.size() == 1 && m_table->trials[*row].state != RunState::Finished);
    m_actions.seeds->setEnabled(row && m_table->objective);
    m_actions.sweep->setEnabled(m_scene && m_scene->passing() > 0);
    m_actions.archive->setEnabled(m_scene && m_scene->passing() > 0 && m_scene->passing() < m_scene->passes.size());
    m_actions.pin->setEnabled(!chosen.empty());
    m_actions.unpin->setEnabled(m_table && std::ranges::any_of(m_selection.pinned(), [this](std::int64_t trial) {
                                    return m_table->rowOf(trial).has_value();
                                }));
    m_actions.clear->setEnabled(!m_selection.brushes().empty());
    const bool isOfSweep = m_scope && m_scope->currentData().toLongLong() > 0;
    for (QAction* each : {m_actions.report, m_actions.reportCommand}) each->setEnabled(isOfSweep);
}

void ComparePage::openChosen() {
    if (const auto trial = chosenOne()) emit openRequested(*trial);
}

void ComparePage::pinChosen() {
    for (const auto trial : m_list->chosen()) m_selection.pin(trial, true);
}

void ComparePage::clearBrushes() { m_selection.clearBrushes(); }

// Those of other sweeps stay.
void ComparePage::clearPins() {
    std::vector<std::int64_t> here;
    for (const std::int64_t trial : m_selection.pinned())
        if (m_table && m_table->rowOf(trial)) here.push_back(trial);
    m_selection.unpin(here);
}

void ComparePage::askForReport() { emit reportRequested(m_selection.scope()); }

void ComparePage::copyReportCommand() {
    QGuiApplication::clipboard()->setText(commandLine({"report", QString::number(m_selection.scope())}));
}

}  // namespace lockstep::ui
