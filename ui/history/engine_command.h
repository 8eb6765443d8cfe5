#pragma once
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <optional>

#include "ui/style/explanation.h"

namespace lockstep::ui {

// The problems of the last line, {"problems":[{"what","remedy"}…]}, as `--json` writes it.
std::optional<Explanation> failureIn(const QByteArray& output);
// What the program says of a problem otherwise: "lockstep: sentence", then the remedy behind an arrow.
Explanation explanationIn(const QString& said);

// One command of the program at a time, in a process of its own: what takes longer than a question of EngineService.
// GUI thread.
class EngineCommand : public QObject {
    Q_OBJECT
public:
    explicit EngineCommand(QString engineProgram, QObject* parent = nullptr);
    ~EngineCommand() override;  // ends it

    bool isRunning() const { return m_process.state() != QProcess::NotRunning; }
    // Nothing while one runs. `input`: all of its standard input.
    void start(const QStringList& arguments, const QByteArray& input = {});
    void cancel();  // it is killed; neither done() nor failed() follows

    // How the newest command came to its end; empty while it runs, where it was cancelled or could not be started.
    struct Ending {
        QByteArray output;
        QString said;             // on the standard error
        std::optional<int> code;  // its exit status; empty: it crashed
    };
    const Ending& ending() const { return m_ending; }

signals:
    void runningChanged(bool running);
    void lineWritten(const QByteArray& line);  // each line of the output, as it comes; done() has them all
    void done(const QByteArray& output);
    void failed(const lockstep::ui::Explanation& why);

private:
    void readLines();
    void ended();

    QString m_program;
    QProcess m_process;
    QByteArray m_output;
    qsizetype m_told = 0;  // bytes of it, in lines
    Ending m_ending;
    bool m_cancelled = false;
};

}  // namespace lockstep::ui
