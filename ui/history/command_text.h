#pragma once
#include <QJsonObject>
#include <QString>
#include <QStringList>

#include "engine/spec/trial_spec.h"

namespace lockstep::ui {

// The command line that means the same trial: what differs from `defaults` (a whole spec), quoted for a shell.
QString trainCommand(const QJsonObject& spec, const QJsonObject& defaults);
QString trainCommand(const TrialSpec& spec);
QString commandLine(const QStringList& arguments);  // of the program "lockstep", quoted for a shell

}  // namespace lockstep::ui
