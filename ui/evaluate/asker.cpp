#include "ui/evaluate/asker.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

#include "ui/history/engine_command.h"
#include "ui/style/plain_text.h"

namespace lockstep::ui {

Asker::Asker(QString engineProgram, QObject* parent) : QObject(parent), m_program(std::move(engineProgram)) {
    connect(&m_process, &QProcess::readyReadStandardOutput, this, &Asker::read);
    connect(&m_process, &QProcess::finished, this, &Asker::ended);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart) return;
        setBusy(false);
        emit failed({tr("The engine %1 could not be started: %2.").arg(m_program, m_process.errorString()),
                     tr("Install lockstep again, so that the window finds its engine.")});
    });
}

Asker::~Asker() {
    m_process.disconnect(this);
    stop();
}

void Asker::setModel(const QStringList& arguments) {
    if (arguments == m_model) return;
    stop();
    m_model = arguments;
}

void Asker::launch(const QStringList& arguments) {
    m_input.clear();
    m_decoder.resetState();
    m_waiting = 0;
    m_process.start(m_program, QStringList{"predict"} + m_model + arguments);
}

void Asker::ask(const QString& line) {
    if (m_writes) stop();
    if (m_process.state() == QProcess::NotRunning) launch({"--interactive", "--json"});
    QByteArray bytes = line.toUtf8();
    for (char& byte : bytes) {
        if (byte == '\n' || byte == '\r') byte = ' ';
    }
    ++m_waiting;
    m_asked.start();
    m_process.write(bytes + '\n');
    setBusy(true);
}

void Asker::goOn(const QString& prompt, const TextSampling& sampling) {
    stop();
    m_writes = true;
    ++m_draw;
    launch(QStringList{"--prompt", prompt} + textArguments(sampling));
    setBusy(true);
}

QStringList Asker::textArguments(const TextSampling& sampling) const {
    return {"--length", QString::number(sampling.bytes), "--temperature", QString::number(sampling.temperature),
            "--top-k",  QString::number(sampling.topK),  "--seed",        QString::number(std::max(1, m_draw))};
}

void Asker::stop() {
    const bool blocked = m_process.blockSignals(true);
    m_process.kill();
    m_process.waitForFinished(2000);
    m_process.blockSignals(blocked);
    m_waiting = 0;
    m_writes = false;
    setBusy(false);
}

void Asker::read() {
    if (m_writes) return emit wrote(m_decoder.decode(m_process.readAllStandardOutput()));
    m_input += m_process.readAllStandardOutput();
    for (qsizetype end = m_input.indexOf('\n'); end >= 0; end = m_input.indexOf('\n')) {
        const QByteArray line = m_input.left(end);
        m_input.remove(0, end + 1);
        takeLine(line);
    }
}

void Asker::takeLine(const QByteArray& line) {
    if (m_waiting > 0 && --m_waiting > 0) return;
    setBusy(false);
    if (const auto told = failureIn(line)) return emit failed(*told);
    QVector<AnswerBars::Bar> bars;
    const QJsonArray answers = QJsonDocument::fromJson(line).object()["answers"].toArray();
    for (const auto& each : answers) {
        const QJsonObject answer = each.toObject();
        bars << AnswerBars::Bar{oneLine(answer["class"].toString().toStdString()), answer["probability"].toDouble(),
                                false};
    }
    emit answered(bars, static_cast<double>(m_asked.nsecsElapsed()) / 1e6);
}

// Before its answer, or at the end of a text.
void Asker::ended() {
    read();
    const bool waited = m_busy && !m_writes, failedText = m_writes && m_process.exitCode() != 0;
    m_writes = false;
    setBusy(false);
    if (!waited && !failedText) return;
    const QString said = QString::fromUtf8(m_process.readAllStandardError()).trimmed();
    emit failed(said.isEmpty() ? Explanation{tr("The model's process ended without an answer."), {}}
                               : explanationIn(said));
}

void Asker::setBusy(bool busy) {
    if (std::exchange(m_busy, busy) != busy) emit busyChanged(busy);
}

}  // namespace lockstep::ui
