#pragma once
#include <signal.h>

#include <QDir>
#include <QFile>
#include <QJsonObject>
#include <QStringList>

#include "tests/app/lockstep_program.h"

// Sweeps of the built program, and the processes that train them.

// Of a small network on made images; each trial takes about a third of a second.
inline QStringList sweepOf(const QStringList& vary, const QStringList& more) {
    return QStringList{"sweep",
                       "--dataset",
                       "synthetic",
                       "--model",
                       "mlp",
                       "--devices",
                       "cpu:1x1",
                       "--batch",
                       "50",
                       "--epochs",
                       "1",
                       "--set",
                       "dataset.samples=500",
                       "dataset.test_samples=100",
                       "--vary"} +
           vary + more;
}
inline const QStringList kNine{"learning_rate=0.01,0.03,0.1", "model.width=8,16,32", "--method", "grid"};

inline QJsonObject sweepIn(const LockstepProgram& program, int number) {
    return program.run({"sweeps", QString::number(number), "--json"}).last();
}

// Processes of this home's program: engines that train, and keepers of the queue.
inline QList<pid_t> processes(const LockstepProgram& program, const QByteArray& command) {
    QList<pid_t> found;
    for (const auto& name : QDir("/proc").entryList(QDir::Dirs)) {
        const pid_t process = name.toInt();
        if (process <= 0) continue;
        QFile words("/proc/" + name + "/cmdline"), environment("/proc/" + name + "/environ");
        if (!words.open(QIODevice::ReadOnly) || !environment.open(QIODevice::ReadOnly)) continue;
        if (!environment.readAll().contains("LOCKSTEP_HOME=" + program.home().toUtf8())) continue;
        const QByteArray line = words.readAll();
        if (line.contains(command) && line.contains("lockstep")) found << process;
    }
    return found;
}

inline void endKeeper(const LockstepProgram& program) {
    for (const pid_t each : processes(program, QByteArray("queue\0keep", 10))) kill(each, SIGKILL);
}
