#pragma once
#include <QByteArray>
#include <QJsonObject>
#include <QString>
#include <QStringList>

namespace lockstep::ui {

// What is asked of `lockstep find-rate` or `lockstep find-batch`.
struct FindQuestion {
    QString command;  // "find-rate"
    QJsonObject spec;
    QStringList options;  // the command's own
};

// How the engine is asked: it tells what it finds as JSON lines, and has the spec on its standard input.
QStringList argumentsOf(const FindQuestion& question);
QByteArray inputOf(const FindQuestion& question);
QString withoutInput(QString said);  // what the engine says of the spec, without the name of that input

// The command line that asks the same: what differs from `defaults` (a whole spec), without what does not matter.
QString commandOf(const FindQuestion& question, const QJsonObject& defaults);

}  // namespace lockstep::ui
