#include <QAction>
#include <QActionGroup>
#include <QMenu>
#include <QPushButton>
#include <algorithm>
#include <utility>

#include "ui/evaluate/checkpoint_choices.h"
#include "ui/evaluate/evaluate_page.h"

// What leaves the page for other programs, and the weights of which checkpoint it has.
namespace lockstep::ui {

namespace {

QString checkpointCommand(const std::string& role) { return "evaluate.checkpoint-" + QString::fromStdString(role); }

QString exportText(const CheckpointFile& checkpoint) {
    if (checkpoint.epoch > 0) return EvaluatePage::tr("Export from the checkpoint of epoch %1").arg(checkpoint.epoch);
    return checkpoint.role == kBest ? EvaluatePage::tr("Export from the best checkpoint")
                                    : EvaluatePage::tr("Export from the last checkpoint");
}

}  // namespace

QMenu* EvaluatePage::makeExportMenu() {
    auto* menu = new QMenu(this);
    menu->setToolTipsVisible(true);
    m_checkpoints = menu->addMenu(QString());
    m_checkpoints->setToolTipsVisible(true);
    m_checkpointGroup = new QActionGroup(this);
    for (const TrialFormat& each : trialFormats()) {
        auto* action = addPageAction(each.needsCheckpoint ? Needs::Model : Needs::Trial, each.id, each.title, each.tip,
                                     [this, &each] { m_writer.ask(m_trial, each, window(), exportedCheckpoint()); });
        menu->addAction(action);
        if (each.id != "card") continue;
        action->setObjectName("trial.card");  // the command of whichever page is in front
        action->disconnect(this);
        connect(action, &QAction::triggered, this, [this] { emit cardRequested(m_trial); });
    }
    menu->addSeparator();
    menu->addAction(addPageAction(Needs::Trial, "copy-command", tr("Copy as command line"),
                                  tr("The command that evaluates the same"), [this] { copyEvaluation(); }));
    menu->addAction(addPageAction(Needs::Question, "copy-question", tr("Copy the question as command line"),
                                  tr("The command that asks the model the same"), [this] { copyQuestion(); }));
    return menu;
}

// One that is not kept any more is not in the menu; whoever still has it does not hold on to something that is gone.
QAction* EvaluatePage::checkpointAction(const CheckpointFile& checkpoint) {
    const QString id = checkpointCommand(checkpoint.role);
    if (auto* made = findChild<QAction*>(id, Qt::FindDirectChildrenOnly)) return made;
    auto* action = new QAction(exportText(checkpoint), this);
    action->setObjectName(id);
    action->setToolTip(tr("Whose weights an exported model has"));
    action->setCheckable(true);
    m_checkpointGroup->addAction(action);
    connect(action, &QAction::triggered, this, [this, role = checkpoint.role] { chooseCheckpoint(role); });
    return action;
}

// Of what is looked at, until the person says another.
void EvaluatePage::listCheckpoints() {
    m_choices = m_found ? checkpointChoices(m_found->checkpoints) : std::vector<CheckpointFile>();
    const std::string shown = checkpointShown(m_choices, source(), counts());
    const bool isKept = std::ranges::find(m_choices, m_exported, &CheckpointFile::role) != m_choices.end();
    const bool isNew = std::exchange(m_checkpointShown, shown) != shown;
    m_checkpoints->clear();
    for (const CheckpointFile& each : m_choices) m_checkpoints->addAction(checkpointAction(each));
    m_checkpoints->menuAction()->setVisible(m_choices.size() > 1);
    chooseCheckpoint(isNew || !isKept ? shown : m_exported);
}

void EvaluatePage::chooseCheckpoint(const std::string& role) {
    m_exported = role;
    for (QAction* each : m_checkpoints->actions()) {
        if (each->objectName() != checkpointCommand(role)) continue;
        each->setChecked(true);
        m_checkpoints->setTitle(each->text());
    }
}

// Empty: the usual one, which needs no words.
std::string EvaluatePage::exportedCheckpoint() const {
    return m_choices.empty() || m_exported == m_choices.front().role ? std::string() : m_exported;
}

void EvaluatePage::showWritten(const QString& text, const QString& file, const QString& command) {
    notice(text);
    m_written = file;
    offerCommand(command);
    m_noticeShow->show();
}

}  // namespace lockstep::ui
