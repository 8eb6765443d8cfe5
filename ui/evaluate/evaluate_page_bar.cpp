#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>

#include "ui/evaluate/evaluate_page.h"
#include "ui/history/command_text.h"

// What can be done on the page, each by a command that a terminal has, too.
namespace lockstep::ui {

QAction* EvaluatePage::addPageAction(const QString& id, const QString& text, const QString& tip,
                                     std::function<void()> slot) {
    auto* action = new QAction(text, this);
    action->setObjectName("evaluate." + id);
    action->setToolTip(tip);
    connect(action, &QAction::triggered, this, std::move(slot));
    m_actions << action;
    return action;
}

void EvaluatePage::makeActions() {
    auto* runs = new QMenu(this);
    runs->setToolTipsVisible(true);
    runs->addAction(addPageAction("best", tr("Best checkpoint, test data"), tr("The weights of the best evaluation"),
                                  [this] { evaluate({"--best"}); }));
    runs->addAction(addPageAction("last", tr("Last checkpoint, test data"), tr("The newest weights"),
                                  [this] { evaluate({"--last"}); }));
    runs->addAction(addPageAction("train", tr("Best checkpoint, training data"),
                                  tr("How well it knows what it was trained on"), [this] {
                                      evaluate({"--best", "--split", "train"});
                                  }));
    runs->addAction(
        addPageAction("other", tr("Best checkpoint, other data…"),
                      tr("A folder of images, or another source of data, with classes that the model knows"),
                      [this] { evaluateOther(); }));
    m_evaluateButton->setMenu(runs);
    auto* outs = new QMenu(this);
    outs->setToolTipsVisible(true);
    outs->addAction(addPageAction("onnx", tr("Model as ONNX…"),
                                  tr("For onnxruntime, OpenCV and others; takes pixels of 0 to 1"),
                                  [this] { exportAs("--onnx", ".onnx", tr("ONNX (*.onnx)")); }));
    outs->addAction(addPageAction("curves", tr("Curves as CSV…"), tr("A row for each update and evaluation"),
                                  [this] { exportAs("--csv", ".csv", tr("CSV (*.csv)")); }));
    outs->addAction(addPageAction("json", tr("Trial as JSON…"), tr("Settings and curves"),
                                  [this] { exportAs("--json", ".json", tr("JSON (*.json)")); }));
    outs->addAction(addPageAction("tensorboard", tr("Curves for TensorBoard…"), tr("An event file in a folder"),
                                  [this] { exportAs("--tensorboard", "", {}); }));
    outs->addSeparator();
    outs->addAction(addPageAction("copy-command", tr("Copy as command line"), tr("The command that evaluates the same"),
                                  [this] { copyEvaluation(); }));
    outs->addAction(addPageAction("copy-question", tr("Copy the question as command line"),
                                  tr("The command that asks the model the same"), [this] { copyQuestion(); }));
    m_exportButton->setMenu(outs);
    addPageAction("choose-image", tr("Ask about an image…"), tr("Choose an image to ask the model about"),
                  [this] { m_ask->chooseImage(); });
    auto* paste = addPageAction("paste", tr("Ask about what was copied"), tr("An image or a text of the clipboard"),
                                [this] { m_ask->take(QApplication::clipboard()->mimeData()); });
    paste->setShortcut(QKeySequence::Paste);
    paste->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(paste);
}

QList<QAction*> EvaluatePage::commands() const { return m_actions; }

void EvaluatePage::enableActions() {
    const bool has = m_found && m_found->hasCheckpoint, busy = m_evaluation.isRunning();
    const bool language = m_found && m_found->spec && kindOf(*m_found->spec) == AskCard::Kind::Language;
    for (QAction* action : m_actions) {
        const QString id = action->objectName().section('.', 1);
        const bool runs = id == "best" || id == "last" || id == "train" || id == "other";
        const bool curves = id == "curves" || id == "json" || id == "tensorboard" || id == "copy-command";
        const bool image = id == "choose-image";
        action->setEnabled(curves ? m_trial > 0 : has && !(runs && busy) && !(image && language));
    }
    m_evaluateButton->setEnabled(has && !busy);
    m_exportButton->setEnabled(m_trial > 0);
    m_cancel->setVisible(busy);
    m_evaluateButton->setVisible(!busy);
    m_evaluateButton->setToolTip(has ? tr("Run the model over test data, training data or others")
                                     : tr("There is no checkpoint yet: the first comes at the end of an epoch"));
}

void EvaluatePage::evaluate(const QStringList& arguments) {
    if (m_evaluation.isRunning() || m_trial == 0) return;
    m_evaluates = m_trial;
    QStringList words{"evaluate", QString::number(m_trial)};
    words += arguments;
    if (!m_devices->text().trimmed().isEmpty()) words += {"--devices", m_devices->text().trimmed()};
    notice(tr("Evaluating trial #%1…").arg(m_trial));
    m_evaluation.start(words + QStringList{"--json"});
}

void EvaluatePage::evaluateOther() {
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Data with classes that the model knows"));
    if (!folder.isEmpty()) evaluate({"--best", "--data", folder});
}

// The other trial, on what is shown of this one.
void EvaluatePage::evaluateBeside() {
    if (m_evaluation.isRunning() || m_other == 0) return;
    m_evaluates = m_other;
    QStringList words{"evaluate", QString::number(m_other), "--best"};
    const Evaluation* now = source();
    if (now && now->split != "test") words += {"--split", QString::fromStdString(now->split)};
    if (!m_devices->text().trimmed().isEmpty()) words += {"--devices", m_devices->text().trimmed()};
    notice(tr("Evaluating trial #%1…").arg(m_other));
    m_evaluation.start(words + QStringList{"--json"});
}

void EvaluatePage::evaluated(const QByteArray& output) {
    m_notice->hide();
    const QJsonObject answer = QJsonDocument::fromJson(output).object();
    if (m_evaluates == m_trial) {
        m_choosesNewest = true;
        m_history.readEvaluations(m_trial, [this](const TrialEvaluations& found) { takeEvaluations(found); });
    } else if (m_evaluates == m_other) {
        m_history.readEvaluations(m_other, [this](const TrialEvaluations& found) { takeBeside(found); });
    }
}

QStringList EvaluatePage::evaluateArguments() const {
    QStringList words{QString::number(m_trial)};
    if (const Evaluation* now = source()) {
        words << (now->checkpoint == "last" ? "--last" : "--best");
        if (now->split != "test") words << "--split" << QString::fromStdString(now->split);
        const TrialSpec& spec = *m_found->spec;
        const std::string own = spec.dataPath.empty() ? spec.dataset.id : spec.dataPath.string();
        if (now->data != own) words << "--data" << QString::fromStdString(now->data);
    }
    if (!m_devices->text().trimmed().isEmpty()) words << "--devices" << m_devices->text().trimmed();
    return words;
}

void EvaluatePage::copyEvaluation() {
    const QString line = commandLine(QStringList{"evaluate"} + evaluateArguments());
    QApplication::clipboard()->setText(line);
    notice(tr("Copied: %1").arg(line));
}

void EvaluatePage::copyQuestion() {
    QApplication::clipboard()->setText(m_ask->command());
    notice(tr("Copied: %1").arg(m_ask->command()));
}

void EvaluatePage::exportAs(const QString& option, const QString& suffix, const QString& filter) {
    if (m_export.isRunning()) return;
    const QString name = QString("trial-%1%2").arg(m_trial).arg(suffix);
    const QString file = suffix.isEmpty() ? QFileDialog::getExistingDirectory(this, tr("Folder for TensorBoard"))
                                          : QFileDialog::getSaveFileName(this, tr("Export"), name, filter);
    if (file.isEmpty()) return;
    QStringList words{"export", QString::number(m_trial), option, file};
    if (option == "--onnx") words << "--normalise";
    disconnect(&m_export, &EngineCommand::done, this, nullptr);
    connect(&m_export, &EngineCommand::done, this,
            [this, words] { notice(tr("Exported, as by: %1").arg(commandLine(words))); });
    m_export.start(words);
}

}  // namespace lockstep::ui
