#include "ui/models/trial_command.h"

#include <QRegularExpression>
#include <QStringList>
#include <nlohmann/json.hpp>

namespace lockstep::ui {

namespace {

using Json = nlohmann::json;

QString quoted(QString word) {
    static const QRegularExpression plain("^[A-Za-z0-9_./:,=+@%-]+$");
    return plain.match(word).hasMatch() ? word : "'" + word.replace("'", "'\\''") + "'";
}

QString textOf(double number) { return QString::fromStdString(Json(number).dump()); }

// Text that would be read as a number or a truth value is given in quotation marks.
QString textOf(const ParamValue& value) {
    const Json json = std::visit([](const auto& each) { return Json(each); }, value);
    if (!json.is_string()) return QString::fromStdString(json.dump());
    const auto& text = json.get_ref<const std::string&>();
    const auto read = Json::parse(text, nullptr, false);
    return QString::fromStdString(!read.is_discarded() && read.is_primitive() ? json.dump() : text);
}

class Command {
public:
    void option(const char* name, const QString& value) { m_words << QString::fromLatin1(name) << quoted(value); }
    void set(const QString& key, const QString& value) { m_words << "--set" << quoted(key + '=' + value); }
    void set(const QString& object, const std::map<std::string, ParamValue>& params) {
        for (const auto& [name, value] : params) set(object + '.' + QString::fromStdString(name), textOf(value));
    }
    QString text() const { return m_words.join(' '); }

private:
    QStringList m_words{"lockstep", "train"};
};

}  // namespace

QString trainCommandOf(const TrialSpec& spec) {
    const TrialSpec usual;
    Command command;
    const auto words = [](const std::string& text) { return QString::fromStdString(text); };
    const auto setNumber = [&](const char* key, std::int64_t value, std::int64_t fallback) {
        if (value != fallback) command.set(key, QString::number(value));
    };
    if (!spec.title.empty()) command.option("--title", words(spec.title));
    command.option("--dataset", words(spec.dataset.id));
    if (!spec.dataPath.empty()) command.option("--data", words(spec.dataPath.string()));
    command.option("--model", words(spec.model.id));
    command.option("--devices", words(spec.devices));
    command.option("--batch", QString::number(spec.batch));
    command.option("--epochs", QString::number(spec.epochs));
    command.option("--optimizer", words(spec.optimizer.id));
    command.option("--lr", textOf(spec.learningRate));
    command.option("--schedule", words(spec.schedule.id));
    command.option("--seed", QString::number(spec.seed));
    if (spec.mode != usual.mode) command.option("--mode", words(spec.mode));
    if (spec.accumulation != usual.accumulation) command.option("--accumulation", QString::number(spec.accumulation));
    if (spec.labelSmoothing != usual.labelSmoothing) command.option("--label-smoothing", textOf(spec.labelSmoothing));
    if (spec.averageDecay != usual.averageDecay) command.option("--average-decay", textOf(spec.averageDecay));
    command.set("dataset", spec.dataset.params);
    command.set("model", spec.model.params);
    command.set("optimizer", spec.optimizer.params);
    command.set("schedule", spec.schedule.params);
    command.set("augmentation", spec.augmentation);
    setNumber("shards", spec.shards, usual.shards);
    setNumber("shard_threads", spec.shardThreads, usual.shardThreads);
    setNumber("bucket_bytes", spec.bucketBytes, usual.bucketBytes);
    setNumber("loader_threads", spec.loaderThreads, usual.loaderThreads);
    return command.text();
}

}  // namespace lockstep::ui
