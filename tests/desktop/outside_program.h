#pragma once
#include <QString>
#include <QStringList>

struct Said {
    int status = -1;  // -1: it did not start, did not end within a minute, or crashed
    QString text;     // standard output, then standard error
};

// Runs a program with LOCKSTEP_HOME set to home (when not empty), and the built programs first in PATH.
Said run(const QString& program, const QStringList& arguments, const QString& home = {});

// A file of the source tree; the test fails where it is missing.
QString sourceFile(const QString& name);
QString textOf(const QString& path);
