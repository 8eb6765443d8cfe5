#include "ui/history/engine_command.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <utility>

namespace lockstep::ui {

std::optional<Explanation> failureIn(const QByteArray& output) {
    const QByteArray lines = output.trimmed(), last = lines.mid(lines.lastIndexOf('\n') + 1);
    const QJsonArray problems = QJsonDocument::fromJson(last).object()["problems"].toArray();
    if (problems.isEmpty()) return std::nullopt;
    QStringList said;  // one may announce the next
    for (const QJsonValue& each : problems) said << each.toObject()["what"].toString();
    return Explanation{said.join(' '), problems.last().toObject()["remedy"].toString()};
}

Explanation explanationIn(const QString& said) {
    QString what = said.section("→", 0, 0).trimmed();
    if (what.startsWith("lockstep: ")) what.remove(0, 10);
    return {what, said.section("→", 1).trimmed()};
}

EngineCommand::EngineCommand(QString engineProgram, QObject* parent)
    : QObject(parent), m_program(std::move(engineProgram)) {
    connect(&m_process, &QProcess::readyReadStandardOutput, this, &EngineCommand::readLines);
    connect(&m_process, &QProcess::finished, this, &EngineCommand::ended);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart) return;
        emit runningChanged(false);
        emit failed({tr("The engine %1 could not be started: %2.").arg(m_program, m_process.errorString()),
                     tr("Install lockstep again, so that the window finds its engine.")});
    });
}

EngineCommand::~EngineCommand() {
    m_process.disconnect(this);
    m_process.kill();
    m_process.waitForFinished(2000);
}

void EngineCommand::start(const QStringList& arguments, const QByteArray& input) {
    if (isRunning()) return;
    m_cancelled = false;
    m_ending = {};
    m_output.clear();
    m_told = 0;
    m_process.start(m_program, arguments);
    if (!input.isEmpty()) m_process.write(input);
    m_process.closeWriteChannel();
    emit runningChanged(true);
}

void EngineCommand::cancel() {
    m_cancelled = true;
    m_process.kill();
}

void EngineCommand::readLines() {
    m_output += m_process.readAllStandardOutput();
    for (qsizetype end = 0; !m_cancelled && (end = m_output.indexOf('\n', m_told)) >= 0;) {
        const QByteArray line = m_output.mid(m_told, end - m_told);
        m_told = end + 1;
        emit lineWritten(line);
    }
}

void EngineCommand::ended() {
    readLines();
    emit runningChanged(false);
    if (m_cancelled) return;
    const bool crashed = m_process.exitStatus() == QProcess::CrashExit;
    m_ending = {std::exchange(m_output, {}), QString::fromUtf8(m_process.readAllStandardError()).trimmed(),
                crashed ? std::nullopt : std::optional(m_process.exitCode())};
    const QByteArray output = m_ending.output;  // whoever takes it may start another
    if (m_ending.code == 0) return emit done(output);
    if (const auto told = failureIn(output)) return emit failed(*told);
    QString said = m_ending.said;
    if (said.isEmpty())
        said = crashed ? tr("The engine crashed.") : tr("The engine ended with status %1.").arg(m_process.exitCode());
    emit failed(explanationIn(said));
}

}  // namespace lockstep::ui
