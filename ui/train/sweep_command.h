#pragma once
#include <QJsonObject>
#include <QString>

#include "engine/search/sweep_spec.h"

namespace lockstep::ui {

// The command line that means the same sweep of a trial, `spec`, quoted for a shell: what differs from `defaults` (a
// whole spec), and what is varied. Where its values cannot be told apart in words, the sweep's file is in it.
QString sweepCommand(const SweepSpec& sweep, const QJsonObject& spec, const QJsonObject& defaults);

}  // namespace lockstep::ui
