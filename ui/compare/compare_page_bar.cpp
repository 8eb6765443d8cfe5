#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QToolBar>

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
                                      tr("Open the run of the selected trial"), {}, &ComparePage::openChosen);
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
    m_actions.command =
        addCompareAction("compare.copy-command", tr("Copy command"), tr("Copy as command line"),
                         tr("Copy the command that writes the sweep's report"), {}, &ComparePage::copyCommand);
}

QList<QAction*> ComparePage::commands() const {
    return {m_actions.open, m_actions.pin, m_actions.unpin, m_actions.clear, m_actions.report, m_actions.command};
}

void ComparePage::buildBar(QToolBar& bar) {
    bar.addActions({m_actions.open, m_actions.pin, m_actions.unpin});
    bar.addSeparator();
    bar.addAction(m_actions.clear);
    bar.addSeparator();
    bar.addActions({m_actions.report, m_actions.command});
    dressActionBar(bar);
}

void ComparePage::enableActions() {
    const auto chosen = m_list ? m_list->chosen() : std::vector<std::int64_t>();
    m_actions.open->setEnabled(chosen.size() == 1);
    m_actions.pin->setEnabled(!chosen.empty());
    m_actions.unpin->setEnabled(!m_selection.pinned().empty());
    m_actions.clear->setEnabled(!m_selection.brushes().empty());
    const bool isOfSweep = m_scope && m_scope->currentData().toLongLong() > 0;
    for (QAction* each : {m_actions.report, m_actions.command}) each->setEnabled(isOfSweep);
}

void ComparePage::openChosen() {
    const auto chosen = m_list->chosen();
    if (chosen.size() == 1) emit openRequested(chosen.front());
}

void ComparePage::pinChosen() {
    for (const auto trial : m_list->chosen())
        if (m_selection.pinned().size() < TrialSelection::kMostPlaces) m_selection.pin(trial, true);
}

void ComparePage::clearBrushes() { m_selection.clearBrushes(); }

void ComparePage::clearPins() { m_selection.clearPins(); }

void ComparePage::askForReport() { emit reportRequested(m_selection.scope()); }

void ComparePage::copyCommand() {
    QGuiApplication::clipboard()->setText(commandLine({"report", QString::number(m_selection.scope())}));
}

}  // namespace lockstep::ui
