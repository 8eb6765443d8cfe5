#include "ui/shell/card_writer.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>
#include <utility>

#include "ui/history/engine_command.h"

namespace lockstep::ui {

namespace {

constexpr int kPartingMs = 3000;

bool isMarkdown(const QString& file) {
    const QString ending = QFileInfo(file).suffix().toLower();
    return ending == "md" || ending == "markdown";
}

QString usualFile(qint64 trial) {
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
    return QDir(folder).filePath(QString("trial-%1-card.html").arg(trial));
}

}  // namespace

CardWriter::CardWriter(QString engineProgram, Explain explain, QObject* parent)
    : QObject(parent), m_program(std::move(engineProgram)), m_explain(std::move(explain)) {}

CardWriter::~CardWriter() {
    for (QProcess* each : findChildren<QProcess*>()) {
        each->disconnect(this);
        each->terminate();
        if (!each->waitForFinished(kPartingMs)) each->kill(), each->waitForFinished(kPartingMs);
    }
}

void CardWriter::ask(qint64 trial, QWidget* window) {
    const QString chosen = QFileDialog::getSaveFileName(
        window, tr("Save the model card of trial %1").arg(trial), usualFile(trial),
        tr("Web page, all in one file (*.html)") + ";;" + tr("Markdown, with a folder of pictures (*.md)"));
    if (!chosen.isEmpty()) write(trial, QFileInfo(chosen).suffix().isEmpty() ? chosen + ".html" : chosen);
}

void CardWriter::write(qint64 trial, const QString& file) {
    auto* process = new QProcess(this);
    process->setStandardOutputFile(QProcess::nullDevice());
    connect(process, &QProcess::finished, this, [this, process, file] { ended(process, file); });
    connect(process, &QProcess::errorOccurred, this, [this, process, file](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart) return;  // others end it, too
        process->deleteLater();
        emit failed(
            file, m_explain({m_program.toStdString(), "engine.cannot-start", {process->errorString().toStdString()}}));
    });
    process->start(m_program, {"card", QString::number(trial), isMarkdown(file) ? "--markdown" : "--html", file});
}

void CardWriter::ended(QProcess* process, const QString& file) {
    process->deleteLater();
    if (process->exitStatus() == QProcess::NormalExit && process->exitCode() == 0) return emit written(file);
    const QString said = QString::fromUtf8(process->readAllStandardError());
    if (!said.trimmed().isEmpty()) return emit failed(file, explanationIn(said));
    emit failed(file, {tr("The program that writes model cards ended without a word."),
                       tr("Try it in a terminal: lockstep card.")});
}

}  // namespace lockstep::ui
