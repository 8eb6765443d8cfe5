#include "ui/history/command_text.h"

#include <QJsonDocument>
#include <QRegularExpression>
#include <QStringList>

#include "engine/spec/trial_settings.h"

namespace lockstep::ui {

QString shellQuoted(const QString& word) {
    static const QRegularExpression plain("^[A-Za-z0-9_./:=,+@%-]+$");
    if (plain.match(word).hasMatch()) return word;
    return '\'' + QString(word).replace('\'', R"('\'')") + '\'';
}

namespace {

QString commandOf(std::span<const Setting> settings, std::span<const Setting> usual) {
    QStringList words{"lockstep", "train"};
    for (const auto& word : trainArguments(settings, usual)) words << shellQuoted(QString::fromStdString(word));
    return words.join(' ');
}

std::vector<Setting> settingsIn(const QJsonObject& spec) {
    return lockstep::settingsIn(QJsonDocument(spec).toJson(QJsonDocument::Compact).toStdString());
}

}  // namespace

QString trainCommand(const QJsonObject& spec, const QJsonObject& defaults) {
    return commandOf(settingsIn(spec), settingsIn(defaults));
}

QString trainCommand(const TrialSpec& spec) { return commandOf(settingsOf(spec), settingsOf({})); }

}  // namespace lockstep::ui
