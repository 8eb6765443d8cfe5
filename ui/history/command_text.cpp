#include "ui/history/command_text.h"

#include <QJsonDocument>

#include "engine/spec/kept_checkpoints.h"
#include "engine/spec/shell_words.h"

namespace lockstep::ui {

namespace {

std::vector<Setting> settingsIn(const QJsonObject& spec) {
    return lockstep::settingsIn(QJsonDocument(spec).toJson(QJsonDocument::Compact).toStdString());
}

}  // namespace

QString trainCommand(const QJsonObject& spec, const QJsonObject& defaults) {
    return QString::fromStdString(lockstep::trainCommand(settingsIn(spec), settingsIn(defaults)));
}

QString trainCommand(const TrialSpec& spec) { return QString::fromStdString(lockstep::trainCommand(spec)); }

QStringList checkpointArguments(const std::string& role) {
    const auto kept = checkpointNamed(checkpointName(role));
    const bool isNumbered = kept && kept->epoch > 0;
    return {"--checkpoint", isNumbered ? QString::number(kept->epoch) : QString::fromStdString(role)};
}

QString commandLine(const QStringList& arguments) {
    QString line = "lockstep";
    for (const QString& each : arguments) line += ' ' + QString::fromStdString(shellQuoted(each.toStdString()));
    return line;
}

}  // namespace lockstep::ui
