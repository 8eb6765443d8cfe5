#pragma once
#include <QJsonObject>
#include <QString>
#include <QStringList>
#include <string>

#include "engine/spec/trial_spec.h"

namespace lockstep::ui {

// The command line that means the same trial: what differs from `defaults` (a whole spec), quoted for a shell.
QString trainCommand(const QJsonObject& spec, const QJsonObject& defaults);
QString trainCommand(const TrialSpec& spec);
// The words that mean a trial's checkpoint of that role, see CheckpointFile: "--checkpoint 7" for "epoch-7".
QStringList checkpointArguments(const std::string& role);
QString commandLine(const QStringList& arguments);  // of the program "lockstep", quoted for a shell

}  // namespace lockstep::ui
