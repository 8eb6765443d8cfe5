#include "ui/evaluate/folder_prediction.h"

#include <QSaveFile>

#include "engine/spec/shell_words.h"
#include "ui/history/command_text.h"

namespace lockstep::ui {

namespace {

// Of a table with a single row, why there is no answer: it stands behind the empty cells. Empty: there are more rows.
QString onlyReasonIn(const QByteArray& table) {
    const QByteArray rows = table.mid(table.indexOf('\n') + 1).trimmed();
    if (rows.contains('\n')) return {};
    QString reason = QString::fromUtf8(rows.mid(rows.lastIndexOf(",,") + 2));
    if (reason.startsWith('"')) reason = reason.mid(1, reason.size() - 2).replace("\"\"", "\"");
    return reason;
}

}  // namespace

FolderPrediction::FolderPrediction(const QString& engineProgram, QObject* parent)
    : QObject(parent), m_engine(engineProgram) {
    connect(&m_engine, &EngineCommand::runningChanged, this, &FolderPrediction::runningChanged);
    connect(&m_engine, &EngineCommand::done, this, &FolderPrediction::keep);
    connect(&m_engine, &EngineCommand::failed, this, &FolderPrediction::fail);
}

void FolderPrediction::start(const QStringList& model, const QString& folder, const QString& file) {
    if (isRunning()) return;
    m_words = QStringList{"predict"} + model + QStringList{folder, "--csv"};
    m_folder = folder;
    m_file = file;
    m_engine.start(m_words);
}

void FolderPrediction::cancel() { m_engine.cancel(); }

QString FolderPrediction::command() const {
    return commandLine(m_words) + " > " + QString::fromStdString(shellQuoted(m_file.toStdString()));
}

// The command also fails where some samples could not be answered, once it has written its table. Of a folder that
// cannot be read or has none, that is a single row.
void FolderPrediction::fail(const Explanation& why) {
    constexpr int kSomeFailed = 1;
    const EngineCommand::Ending& ending = m_engine.ending();
    if (ending.code != kSomeFailed || ending.output.isEmpty()) return emit failed(why);
    const QString reason = onlyReasonIn(ending.output);
    if (reason.isEmpty()) keep();
    else emit failed({reason, {}});
}

void FolderPrediction::keep() {
    const QByteArray table = m_engine.ending().output;
    QSaveFile out(m_file);
    if (!out.open(QIODevice::WriteOnly) || out.write(table) != table.size() || !out.commit())
        return emit failed({tr("The answers cannot be written to %1: %2.").arg(m_file, out.errorString()),
                            tr("Choose another file.")});
    emit written(m_file, QString(m_engine.ending().said).replace('\n', "; "));
}

}  // namespace lockstep::ui
