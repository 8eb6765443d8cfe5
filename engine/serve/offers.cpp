#include "engine/serve/offers.h"

#include "engine/data/augment.h"
#include "engine/ops/update.h"
#include "engine/spec/trial_fields.h"
#include "engine/train/schedule.h"

namespace lockstep {

namespace {

const char* text(Presence presence) {
    switch (presence) {
        case Presence::Present: return "present";
        case Presence::NeedsPath: return "needs-path";
        case Presence::Absent: return "absent";
    }
    return "?";
}

std::vector<DescribedField> describedFields(const std::vector<Field>& fields) {
    std::vector<DescribedField> out;
    for (const auto& field : fields) {
        const auto& dims = field.type.shape.dims();
        out.push_back({field.name, std::string(text(field.type.dtype)), {dims.begin(), dims.end()}});
    }
    return out;
}

OfferedChoice choiceOf(std::string id, std::string meaning, ParamSchema params) {
    OfferedChoice choice;
    choice.id = std::move(id);
    choice.meaning = std::move(meaning);
    choice.params = std::move(params);
    return choice;
}

}  // namespace

std::vector<ToldProblem> toldAll(const std::vector<Problem>& problems, const ServeWords& words) {
    std::vector<ToldProblem> out;
    for (const auto& problem : problems) out.push_back(words.told(problem));
    return out;
}

DevicesAnswer offeredDevices(const Environment& environment, const ServeWords& words) {
    DevicesAnswer answer;
    for (const auto& info : environment.devices()) {
        answer.devices.push_back({info, info.facts.bus.empty() ? std::string() : words.facts(info.facts),
                                  environment.backend(info.backend)->productSpeed(Precision::Bf16)});
    }
    for (const auto& [backend, reason] : environment.missing())
        answer.missing.push_back({backend, {words.told(reason)}});
    return answer;
}

Presence presenceOf(const DatasetEntry& entry) {
    if (entry.defaultPath.empty()) return entry.needsPath ? Presence::NeedsPath : Presence::Present;
    std::error_code ignored;
    return std::filesystem::exists(entry.defaultPath, ignored) ? Presence::Present : Presence::Absent;
}

DatasetsAnswer offeredDatasets(const Environment& environment) {
    DatasetsAnswer answer;
    for (const auto& entry : environment.datasets()) {
        OfferedChoice choice = choiceOf(entry.id, entry.meaning, entry.params);
        choice.title = entry.title;
        choice.state = text(presenceOf(entry));
        choice.path = entry.defaultPath.string();
        choice.remedy = entry.remedy;
        answer.datasets.push_back(std::move(choice));
    }
    return answer;
}

ModelsAnswer offeredModels(const Environment& environment) {
    ModelsAnswer answer;
    for (const auto& model : environment.models()) {
        answer.models.push_back(choiceOf(model.name, model.meaning, model.params));
        answer.models.back().task = text(model.task);
    }
    return answer;
}

SettingsAnswer offeredSettings() {
    SettingsAnswer answer;
    for (const auto& rule : updateRules()) {
        answer.optimizers.push_back(choiceOf(rule.name, {}, rule.params));
    }
    for (const auto& entry : schedules()) {
        answer.schedules.push_back(choiceOf(entry.name, entry.meaning, entry.params));
    }
    answer.augmentation = augmentationSchema();
    for (const TrialField& each : trialFields()) answer.trial.push_back(each.field);
    answer.defaults = {toJsonLine(TrialSpec())};
    return answer;
}

DescribedData describedData(const DatasetReport& report, const ServeWords& words) {
    return {report.format,
            describedFields(report.fields),
            report.trainCount,
            report.testCount,
            report.validationCount,
            report.classes,
            report.trainPerClass,
            report.testPerClass,
            toldAll(report.warnings, words),
            report.validationPerClass};
}

InspectAnswer inspection(const DatasetReport& report, const ServeWords& words) {
    InspectAnswer answer{describedData(report, words), {}};
    for (const auto& each : report.skipped) answer.skipped.push_back({each.file.string(), {words.told(each.reason)}});
    return answer;
}

std::vector<PlannedLayer> plannedLayers(const Graph& forward) {
    std::vector<PlannedLayer> layers;
    for (auto& row : layerTable(forward)) layers.push_back({row.name, row.op, row.output, row.parameters});
    return layers;
}

}  // namespace lockstep
