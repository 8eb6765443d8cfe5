#include "ui/history/command_text.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QRegularExpression>
#include <QStringList>
#include <utility>

#include "ui/history/setting_text.h"

namespace lockstep::ui {

namespace {

// The settings with an option of their own; all others go through --set.
const std::pair<const char*, const char*> kOptions[] = {{"title", "--title"},
                                                        {"devices", "--devices"},
                                                        {"batch", "--batch"},
                                                        {"epochs", "--epochs"},
                                                        {"learning_rate", "--lr"},
                                                        {"label_smoothing", "--label-smoothing"},
                                                        {"seed", "--seed"},
                                                        {"mode", "--mode"},
                                                        {"accumulation", "--accumulation"},
                                                        {"average_decay", "--average-decay"},
                                                        {"weights", "--weights"},
                                                        {"new_head", "--new-head"},
                                                        {"frozen", "--frozen"},
                                                        {"recompute", "--recompute"},
                                                        {"precision", "--precision"}};

const char* optionOf(const QString& key) {
    for (const auto& [name, option] : kOptions) {
        if (key == name) return option;
    }
    return nullptr;
}

// The command line takes a value for JSON where it is some, and for text otherwise.
QString settingValue(const QJsonValue& value) {
    if (!value.isString()) return numberText(value);
    const auto text = value.toString();
    const auto asJson = QJsonDocument::fromJson('[' + text.toUtf8() + ']');
    if (asJson.isNull()) return text;
    const auto quoted = QJsonDocument(QJsonArray{value}).toJson(QJsonDocument::Compact);
    return QString::fromUtf8(quoted.mid(1, quoted.size() - 2));
}

void addSetting(QStringList& words, const QString& path, const QJsonValue& value) {
    words << "--set" << shellQuoted(path + '=' + settingValue(value));
}

void addChoice(QStringList& words, const QString& group, const QJsonValue& value, const QJsonValue& standard) {
    const auto choice = value.isString() ? QJsonObject{{"id", value}} : value.toObject();
    const auto usual = standard.isString() ? QJsonObject{{"id", standard}} : standard.toObject();
    const bool always = group == "dataset" || group == "model";  // what a reader looks for first
    if (choice.contains("id") && (always || choice["id"] != usual["id"]))
        words << "--" + group << shellQuoted(choice["id"].toString());
    if (group == "dataset" && !choice["path"].toString().isEmpty())
        words << "--data" << shellQuoted(choice["path"].toString());
    for (auto it = choice.begin(); it != choice.end(); ++it) {
        if (it.key() == "id" || (group == "dataset" && it.key() == "path")) continue;
        if (it.value() != usual[it.key()]) addSetting(words, group + '.' + it.key(), it.value());
    }
}

}  // namespace

QString shellQuoted(const QString& word) {
    static const QRegularExpression plain("^[A-Za-z0-9_./:=,+@%-]+$");
    if (plain.match(word).hasMatch()) return word;
    return '\'' + QString(word).replace('\'', R"('\'')") + '\'';
}

QString trainCommand(const QJsonObject& spec, const QJsonObject& defaults) {
    QStringList words{"lockstep", "train"};
    for (const char* group : {"dataset", "model", "optimizer", "schedule"}) {
        if (spec.contains(group)) addChoice(words, group, spec[group], defaults[group]);
    }
    for (auto it = spec.begin(); it != spec.end(); ++it) {
        const auto& key = it.key();
        if (key == "dataset" || key == "model" || key == "optimizer" || key == "schedule") continue;
        if (it.value() == defaults[key]) continue;
        if (it.value().isObject()) {
            const auto inner = it.value().toObject();
            for (auto each = inner.begin(); each != inner.end(); ++each)
                addSetting(words, key + '.' + each.key(), each.value());
        } else if (const char* option = optionOf(key)) {
            words << option << shellQuoted(numberText(it.value()));
        } else {
            addSetting(words, key, it.value());
        }
    }
    return words.join(' ');
}

QString trainCommand(const TrialSpec& spec) {
    const auto objectOf = [](const TrialSpec& each) {
        return QJsonDocument::fromJson(QByteArray::fromStdString(toJson(each))).object();
    };
    return trainCommand(objectOf(spec), objectOf({}));
}

}  // namespace lockstep::ui
