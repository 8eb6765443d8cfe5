#include "tests/app/lockstep_program.h"

#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QThread>

QList<QJsonObject> Outcome::lines() const {
    QList<QJsonObject> objects;
    for (const auto& line : out.split('\n', Qt::SkipEmptyParts))
        objects << QJsonDocument::fromJson(line.toUtf8()).object();
    return objects;
}

QJsonObject Outcome::last() const {
    const auto objects = lines();
    return objects.isEmpty() ? QJsonObject() : objects.last();
}

LockstepProgram::LockstepProgram() : m_home(m_folder.filePath("home")) {}

std::unique_ptr<QProcess> LockstepProgram::start(const QStringList& arguments) const {
    return launch(LOCKSTEP_PROGRAM, arguments);
}

std::unique_ptr<QProcess> LockstepProgram::launch(const QString& program, const QStringList& arguments) const {
    auto process = std::make_unique<QProcess>();
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert("LOCKSTEP_HOME", m_home);
    environment.remove("LOCKSTEP_PLUGINS");
    process->setProcessEnvironment(environment);
    process->start(program, arguments);
    process->waitForStarted();
    return process;
}

Outcome LockstepProgram::finish(QProcess& process, int seconds) {
    Outcome outcome;
    process.closeWriteChannel();
    const bool ended = process.waitForFinished(seconds * 1000);
    if (ended && process.exitStatus() == QProcess::NormalExit) outcome.status = process.exitCode();
    outcome.out = QString::fromUtf8(process.readAllStandardOutput());
    outcome.err = QString::fromUtf8(process.readAllStandardError());
    if (!ended) process.kill(), process.waitForFinished();
    return outcome;
}

Outcome LockstepProgram::run(const QStringList& arguments, const QByteArray& input) const {
    const auto process = start(arguments);
    process->write(input);
    return finish(*process);
}

Outcome LockstepProgram::shell(const QString& script, const QStringList& arguments) const {
    return finish(*launch("bash", QStringList{"-c", script, LOCKSTEP_PROGRAM} + arguments));
}

int LockstepProgram::waitUntilRunning() const {
    for (QElapsedTimer clock =
             [] {
                 QElapsedTimer t;
                 t.start();
                 return t;
             }();
         clock.elapsed() < 30000; QThread::msleep(100)) {
        const auto newest = run({"trials", "--limit", "1", "--json"}).last()["trials"].toArray().at(0).toObject();
        if (newest["state"] == "running" && newest["step"].toInt() > 0) return newest["trial"].toInt();
    }
    return 0;
}

QJsonObject LockstepProgram::trial(int id) const { return run({"show", QString::number(id), "--json"}).last(); }

QString LockstepProgram::write(const QString& name, const QByteArray& bytes) const {
    QFile file(path(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
        qFatal("cannot write %s", qPrintable(name));
    return file.fileName();
}

QStringList shortRun() {
    return {"train",
            "--dataset",
            "synthetic",
            "--model",
            "mlp",
            "--devices",
            "cpu:2x1",
            "--batch",
            "64",
            "--epochs",
            "2",
            "--lr",
            "0.05",
            "--set",
            "dataset.samples=600",
            "dataset.test_samples=100",
            "model.width=32"};
}

QStringList longRun() {
    return {"train",
            "--dataset",
            "synthetic",
            "--model",
            "mlp",
            "--devices",
            "cpu:1x1",
            "--batch",
            "64",
            "--epochs",
            "10000",
            "--lr",
            "0.01",
            "--set",
            "dataset.samples=2000",
            "dataset.test_samples=100",
            "model.width=64"};
}
