#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <map>

#include "ui/evaluate/beside_card.h"
#include "ui/evaluate/evaluate_page.h"
#include "ui/history/command_text.h"

// What can be done on the page, each by a command that a terminal has, too.
namespace lockstep::ui {

namespace {

// The samples of an evaluation, for a trial of that spec.
QStringList sampleArguments(const Evaluation& evaluation, const TrialSpec& spec) {
    const bool isOther = evaluation.data != dataName(spec);
    const bool isPath = evaluation.data.find('/') != std::string::npos;  // else a dataset's id
    QStringList words;
    if (isOther) words << (isPath ? "--data" : "--dataset") << QString::fromStdString(evaluation.data);
    // Of the trial's own data the test split is meant, of others all.
    if (isOther || evaluation.split != "test") words << "--split" << QString::fromStdString(evaluation.split);
    return words;
}

}  // namespace

QAction* EvaluatePage::addPageAction(Needs needs, const QString& id, const QString& text, const QString& tip,
                                     std::function<void()> slot) {
    auto* action = new QAction(text, this);
    action->setObjectName("evaluate." + id);
    action->setToolTip(tip);
    connect(action, &QAction::triggered, this, std::move(slot));
    m_actions.emplace_back(action, needs);
    return action;
}

QMenu* EvaluatePage::makeEvaluateMenu() {
    auto* menu = new QMenu(this);
    menu->setToolTipsVisible(true);
    const auto add = [&](const QString& id, const QString& text, const QString& tip, std::function<void()> slot) {
        menu->addAction(addPageAction(Needs::IdleEngine, id, text, tip, std::move(slot)));
    };
    add("best", tr("Evaluate on test data"), tr("The weights of the best evaluation, where they were kept"),
        [this] { evaluate({}); });
    add("last", tr("Evaluate the newest weights on test data"), tr("Those of the last checkpoint"),
        [this] { evaluate({"--last"}); });
    add("train", tr("Evaluate on training data"), tr("How well it knows what it was trained on"), [this] {
        evaluate({"--split", "train"});
    });
    add("folder", tr("Evaluate on another folder…"), tr("Images or texts of classes that the model knows"),
        [this] { evaluateOther(QFileDialog::getExistingDirectory(this, tr("Data of classes that the model knows"))); });
    add("file", tr("Evaluate on a file…"), tr("A table of texts, with classes that the model knows"),
        [this] { evaluateOther(QFileDialog::getOpenFileName(this, tr("Data of classes that the model knows"))); });
    menu->addSeparator();
    m_predicts = addPageAction(
        Needs::IdleClassifier, "predict-folder", tr("Predict a folder…"),
        tr("What the model says of every sample of a folder, as a table (CSV); dropping the folder on the page does "
           "the same"),
        [this] { predictFolder(QFileDialog::getExistingDirectory(this, tr("Folder of samples to predict"))); });
    menu->addAction(m_predicts);
    return menu;
}

void EvaluatePage::makeActions() {
    m_evaluateButton->setMenu(makeEvaluateMenu());
    m_exportButton->setMenu(makeExportMenu());
    addPageAction(Needs::ImageModel, "choose-image", tr("Ask about an image…"),
                  tr("Choose an image to ask the model about"), [this] { m_ask->chooseImage(); });
    auto* paste = addPageAction(Needs::Model, "paste", tr("Ask about what was copied"),
                                tr("An image or a text of the clipboard"), [this] {
                                    if (const QMimeData* copied = QApplication::clipboard()->mimeData()) take(*copied);
                                });
    paste->setShortcut(QKeySequence::Paste);
    paste->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(paste);
}

QList<QAction*> EvaluatePage::commands() const {
    QList<QAction*> actions;
    for (const auto& [action, needs] : m_actions) actions << action;
    return actions + m_checkpoints->actions();
}

void EvaluatePage::enableActions() {
    const bool model = m_found && m_found->hasCheckpoint(), busy = isBusy();
    const bool classifies = m_ask->kind() == AskCard::Kind::Images || m_ask->kind() == AskCard::Kind::Texts;
    const std::map<Needs, bool> has{{Needs::Trial, m_trial > 0},
                                    {Needs::Model, model},
                                    {Needs::ImageModel, m_ask->kind() == AskCard::Kind::Images},
                                    {Needs::Question, m_ask->hasQuestion()},
                                    {Needs::IdleEngine, model && !busy},
                                    {Needs::IdleClassifier, classifies && !busy}};
    for (const auto& [action, needs] : m_actions) action->setEnabled(has.at(needs));
    m_evaluateButton->setEnabled(model && !busy);
    m_exportButton->setEnabled(m_trial > 0);
    m_cancel->setVisible(busy);
    m_evaluateButton->setVisible(!busy);
    m_gallery->setHintEnabled(!busy);
    m_beside->setEvaluable(!busy);
    m_evaluateButton->setToolTip(model ? tr("Run the model over test data, training data or others") : whyNoModel());
}

bool EvaluatePage::isBusy() const { return m_evaluation.isRunning() || m_prediction.isRunning(); }

void EvaluatePage::cancel() {
    m_evaluation.cancel();
    m_prediction.cancel();
    m_notice->hide();
}

void EvaluatePage::evaluate(const QStringList& arguments) {
    if (m_trial > 0) startEvaluation(m_trial, arguments);
}

void EvaluatePage::evaluateOther(const QString& path) {
    if (!path.isEmpty()) evaluate({"--data", path});
}

// The other trial, on what is shown of this one.
void EvaluatePage::evaluateBeside(const TrialSpec& spec) {
    if (const Evaluation* now = source()) startEvaluation(m_beside->other(), sampleArguments(*now, spec));
}

void EvaluatePage::startEvaluation(std::int64_t trial, const QStringList& arguments) {
    if (isBusy()) return;
    m_evaluates = trial;
    notice(tr("Evaluating trial #%1…").arg(trial));
    m_evaluation.start(QStringList{"evaluate", QString::number(trial)} + arguments + whereArguments() +
                       QStringList{"--json"});
}

void EvaluatePage::evaluated() {
    notice(tr("Trial #%1 is evaluated.").arg(m_evaluates));
    if (m_evaluates == m_trial) {
        m_choosesNewest = true;
        readEvaluations();
    } else if (m_evaluates == m_beside->other()) {
        m_beside->readAgain();
    }
}

QStringList EvaluatePage::whereArguments() const {
    QStringList words;
    if (const QString devices = m_devices->text().trimmed(); !devices.isEmpty()) words << "--devices" << devices;
    if (const QString precision = m_precision->currentData().toString(); !precision.isEmpty())
        words << "--precision" << precision;
    return words;
}

void EvaluatePage::copyEvaluation() {
    QStringList words{"evaluate", QString::number(m_trial)};
    if (const Evaluation* now = source(); now && m_found->spec)
        words += checkpointArguments(now->checkpoint) + sampleArguments(*now, *m_found->spec);
    copy(commandLine(words + whereArguments()));
}

void EvaluatePage::copyQuestion() { copy(m_ask->command()); }

void EvaluatePage::copy(const QString& command) {
    QApplication::clipboard()->setText(command);
    notice(tr("Copied: %1").arg(command));
}

}  // namespace lockstep::ui
