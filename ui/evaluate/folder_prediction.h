#pragma once
#include "ui/history/engine_command.h"

namespace lockstep::ui {

// What a trained model says of every sample of a folder, as a table in a file (CSV), by `lockstep predict` in a process
// of its own. The file is written at the end, whole or not at all. GUI thread.
class FolderPrediction : public QObject {
    Q_OBJECT
public:
    explicit FolderPrediction(const QString& engineProgram, QObject* parent = nullptr);

    bool isRunning() const { return m_engine.isRunning(); }
    // `model`: arguments of `lockstep predict` that mean it. Nothing while one runs.
    void start(const QStringList& model, const QString& folder, const QString& file);
    void cancel();  // neither written() nor failed() follows
    const QString& folder() const { return m_folder; }
    QString command() const;  // of a shell, that writes the same file

signals:
    void runningChanged(bool running);
    // `said`: how many samples, how fast, and how many of them could not be answered, whose rows say why.
    void written(const QString& file, const QString& said);
    void failed(const lockstep::ui::Explanation& why);

private:
    void keep();
    void fail(const Explanation& why);

    EngineCommand m_engine;
    QStringList m_words;
    QString m_folder, m_file;
};

}  // namespace lockstep::ui
