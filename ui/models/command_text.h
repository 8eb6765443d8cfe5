#pragma once
#include <QJsonObject>
#include <QString>

namespace lockstep::ui {

// The command line that means the same trial: what differs from `defaults` (a whole spec), quoted for a shell.
QString trainCommand(const QJsonObject& spec, const QJsonObject& defaults);
QString shellQuoted(const QString& word);

}  // namespace lockstep::ui
