#include "tests/desktop/outside_program.h"

#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QProcessEnvironment>
#include <QtTest>

Said run(const QString& program, const QStringList& arguments, const QString& home) {
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert("PATH", QFileInfo(LOCKSTEP_PROGRAM).path() + ':' + environment.value("PATH"));
    if (!home.isEmpty()) environment.insert("LOCKSTEP_HOME", home);
    QProcess process;
    process.setProcessEnvironment(environment);
    if (!home.isEmpty()) process.setWorkingDirectory(home);
    process.start(program, arguments);
    if (!process.waitForFinished(60'000)) return {-1, program + ": " + process.errorString()};
    const int status = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
    return {status, QString::fromUtf8(process.readAllStandardOutput() + process.readAllStandardError())};
}

QString sourceFile(const QString& name) { return QStringLiteral(LOCKSTEP_SOURCE_DIR) + '/' + name; }

QString textOf(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) qFatal("%s cannot be read", qPrintable(path));
    return QString::fromUtf8(file.readAll());
}
