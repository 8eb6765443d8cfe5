#pragma once
#include <QJsonObject>
#include <QProcess>
#include <QStringList>
#include <QTemporaryDir>
#include <memory>

// The built program with a home of its own.
struct Outcome {
    int status = -1;  // -1: it did not end, or crashed
    QString out, err;
    QList<QJsonObject> lines() const;  // of out, one JSON object each; a line that is none makes an empty object
    QJsonObject last() const;
};

class LockstepProgram {
public:
    LockstepProgram();
    Outcome run(const QStringList& arguments, const QByteArray& input = {}) const;
    // With bash between, in whose script "$0" "$@" is the program with its arguments.
    Outcome shell(const QString& script, const QStringList& arguments) const;
    std::unique_ptr<QProcess> start(const QStringList& arguments) const;
    static Outcome finish(QProcess& process, int seconds = 60);

    // Waits until the newest trial has done a step; returns its number, 0 when that did not happen in time.
    int waitUntilRunning() const;
    QJsonObject trial(int id) const;  // as `show --json` says

    void setHome(const QString& folder) { m_home = folder; }
    QString home() const { return m_home; }
    QString path(const QString& name) const { return m_folder.filePath(name); }
    QString write(const QString& name, const QByteArray& bytes) const;  // returns the path

private:
    std::unique_ptr<QProcess> launch(const QString& program, const QStringList& arguments) const;

    QTemporaryDir m_folder;
    QString m_home;
};

// Arguments of a run that takes about a second, and of one that takes as long as it is let.
QStringList shortRun();
QStringList longRun();
