#include "ui/train/sweep_command.h"

#include <QJsonDocument>
#include <algorithm>

#include "engine/spec/shell_words.h"
#include "engine/spec/trial_settings.h"

namespace lockstep::ui {

namespace {

std::vector<Setting> settingsOfJson(const QJsonObject& spec) {
    return settingsIn(QJsonDocument(spec).toJson(QJsonDocument::Compact).toStdString());
}

const ChoiceOfValues* listed(const Dimension& dimension) { return std::get_if<ChoiceOfValues>(&dimension.values); }

// Texts may have commas, which stand between values.
bool readsBack(const Dimension& dimension) {
    const auto read = dimensionFrom(wordsOf(dimension));
    if (!read.ok()) return false;
    const auto *meant = listed(dimension), *understood = listed(read.value());
    if (!meant || !understood) return !meant && !understood;
    return std::ranges::equal(*meant, *understood, [](const auto& a, const auto& b) { return text(a) == text(b); });
}

void addOption(std::vector<std::string>& words, const char* option, std::int64_t value, std::int64_t usual) {
    if (value == usual) return;
    words.emplace_back(option);
    words.push_back(std::to_string(value));
}

std::vector<std::string> wordsOfPlan(const SweepSpec& sweep) {
    const SweepSpec usual;
    std::vector<std::string> words{"--method", sweep.method};
    addOption(words, "--trials", sweep.trials, sweep.method == "grid" ? 0 : usual.trials);
    addOption(words, "--repeats", sweep.repeats, usual.repeats);
    addOption(words, "--parallel", sweep.parallel, usual.parallel);
    addOption(words, "--retries", sweep.retries, usual.retries);
    addOption(words, "--max-failures", sweep.maxFailures, usual.maxFailures);
    if (!sweep.scheduler.empty()) words.insert(words.end(), {"--scheduler", sweep.scheduler});
    addOption(words, "--first-rung", sweep.firstRung, usual.firstRung);
    addOption(words, "--reduction", sweep.reduction, usual.reduction);
    if (!sweep.objective.empty()) words.insert(words.end(), {"--objective", sweep.objective});
    if (sweep.seed != usual.seed) words.insert(words.end(), {"--sweep-seed", std::to_string(sweep.seed)});
    return words;
}

}  // namespace

QString sweepCommand(const SweepSpec& sweep, const QJsonObject& spec, const QJsonObject& defaults) {
    if (!std::ranges::all_of(sweep.vary, readsBack))
        return QString::fromStdString("lockstep sweep /dev/stdin <<'END'\n" + sweepJson(sweep) + "END\n");
    auto words = trainArguments(settingsOfJson(spec), settingsOfJson(defaults));
    for (const Dimension& each : sweep.vary) words.insert(words.end(), {"--vary", wordsOf(each)});
    for (const Constraint& each : sweep.constraints) words.insert(words.end(), {"--constraint", each.text()});
    const auto plan = wordsOfPlan(sweep);
    words.insert(words.end(), plan.begin(), plan.end());
    std::string line = "lockstep sweep";
    for (const std::string& each : words) line += ' ' + shellQuoted(each);
    return QString::fromStdString(line);
}

}  // namespace lockstep::ui
