#pragma once
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <optional>

namespace lockstep::ui {

// What a command said went wrong.
struct ToldFailure {
    QString what, remedy;
};
// Of the first problem of a line {"problems":[{"what","remedy"}…]}, as `--json` writes it.
std::optional<ToldFailure> failureIn(const QByteArray& line);

// One command of the program at a time, in a process of its own: what takes longer than a question of EngineService.
// GUI thread.
class EngineCommand : public QObject {
    Q_OBJECT
public:
    explicit EngineCommand(QString engineProgram, QObject* parent = nullptr);
    ~EngineCommand() override;  // ends it

    bool isRunning() const { return m_process.state() != QProcess::NotRunning; }
    void start(const QStringList& arguments);  // nothing while one runs
    void cancel();                             // neither done() nor failed() follows

signals:
    void runningChanged(bool running);
    void done(const QByteArray& output);
    void failed(const QString& what, const QString& remedy);

private:
    void ended();

    QString m_program;
    QProcess m_process;
    bool m_cancelled = false;
};

}  // namespace lockstep::ui
