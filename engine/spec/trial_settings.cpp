#include "engine/spec/trial_settings.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/core/strict_json.h"
#include "engine/spec/json_text.h"
#include "engine/spec/trial_fields.h"

namespace lockstep {

namespace {

using OrderedJson = nlohmann::ordered_json;

struct Group {
    std::string_view name;
    Choice TrialSpec::*choice;  // null: settings without a choice
    std::string_view behind;    // the field that it follows in the order of a spec
};
constexpr Group kGroups[] = {{"dataset", &TrialSpec::dataset, "title"},
                             {"model", &TrialSpec::model, "title"},
                             {"optimizer", &TrialSpec::optimizer, "epochs"},
                             {"schedule", &TrialSpec::schedule, "learning_rate_batch"},
                             {"augmentation", nullptr, "learning_rate_batch"}};

constexpr std::pair<std::string_view, std::string_view> kOptions[] = {{"dataset", "--dataset"},
                                                                      {"dataset.path", "--data"},
                                                                      {"model", "--model"},
                                                                      {"optimizer", "--optimizer"},
                                                                      {"schedule", "--schedule"},
                                                                      {"title", "--title"},
                                                                      {"devices", "--devices"},
                                                                      {"batch", "--batch"},
                                                                      {"accumulation", "--accumulation"},
                                                                      {"recompute", "--recompute"},
                                                                      {"epochs", "--epochs"},
                                                                      {"learning_rate", "--lr"},
                                                                      {"label_smoothing", "--label-smoothing"},
                                                                      {"average_decay", "--average-decay"},
                                                                      {"seed", "--seed"},
                                                                      {"weights", "--weights"},
                                                                      {"new_head", "--new-head"},
                                                                      {"frozen", "--frozen"},
                                                                      {"precision", "--precision"},
                                                                      {"mode", "--mode"}};

const Group* findGroup(std::string_view name) {
    const auto found = std::ranges::find(kGroups, name, &Group::name);
    return found == std::end(kGroups) ? nullptr : found;
}

template <class Spec>
auto& settingsOfGroup(Spec& spec, const Group& group) {
    return group.choice ? (spec.*group.choice).params : spec.augmentation;
}

bool isDataPath(const SettingPath& path) { return path.group == "dataset" && path.name == "path"; }

// A whole number that a double holds exactly.
bool isWhole(double value) { return std::trunc(value) == value && std::abs(value) <= 0x1p53; }

ParamValue valueOf(const OrderedJson& json) {
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_number_integer() && !isBeyondInteger(json)) return json.get<std::int64_t>();
    if (json.is_number_float()) return json.get<double>();
    return json.is_string() ? json.get<std::string>()
                            : json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::optional<Problem> writeText(std::string_view path, const ParamValue& value, auto& out) {
    const auto* text = std::get_if<std::string>(&value);
    if (!text) return wrongType(path, value, "text");
    out = *text;
    return std::nullopt;
}

std::optional<Problem> choose(TrialSpec& spec, const Group& group, const ParamValue& value) {
    std::string id;
    if (auto problem = writeText(group.name, value, id)) return problem;
    Choice& choice = spec.*group.choice;
    if (choice.id == id) return std::nullopt;
    if (group.choice == &TrialSpec::dataset) spec.dataPath.clear();
    choice = {std::move(id), {}};
    return std::nullopt;
}

std::string settingWord(const Setting& setting) {
    const auto* words = std::get_if<std::string>(&setting.value);
    const bool readsBack = !words || settingValue(setting.path, *words) == setting.value;
    return setting.path + '=' +
           (readsBack ? text(setting.value)
                      : OrderedJson(*words).dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
}

const ParamValue* find(std::span<const Setting> settings, std::string_view path) {
    const auto found = std::ranges::find(settings, path, &Setting::path);
    return found == settings.end() ? nullptr : &found->value;
}

// What a command says anyway, for a reader looks for it first; and what is not as usual.
bool isSaid(const SettingPath& path, const Setting& setting, std::span<const Setting> settings,
            std::span<const Setting> usual) {
    if (path.isChoice() && (path.group == "dataset" || path.group == "model")) return true;
    if (isDataPath(path)) return !text(setting.value).empty();
    const auto isUsual = [&](std::string_view each) {
        const auto *here = find(settings, each), *there = find(usual, each);
        return here && there && *here == *there;
    };
    const bool ofAnother = isChoice(path.group) && !path.isChoice() && !isUsual(path.group);
    return ofAnother || !isUsual(setting.path);
}

}  // namespace

std::optional<SettingPath> SettingPath::from(std::string_view text) {
    const auto dot = text.find('.');
    if (text.empty() || dot == 0 || dot + 1 == text.size()) return std::nullopt;
    if (dot != text.npos) return SettingPath{std::string(text.substr(0, dot)), std::string(text.substr(dot + 1))};
    if (lockstep::isChoice(text)) return SettingPath{std::string(text), "id"};
    return SettingPath{"", std::string(text)};
}

std::string SettingPath::text() const { return group.empty() ? name : isChoice() ? group : group + '.' + name; }
bool SettingPath::isChoice() const { return name == "id" && lockstep::isChoice(group); }

bool isChoice(std::string_view name) {
    const Group* group = findGroup(name);
    return group && group->choice;
}

const std::vector<std::string>& settingKeys() {
    static const std::vector<std::string> keys = [] {
        std::vector<std::string> all;
        for (const TrialField& each : trialFields()) {
            all.push_back(each.field.name);
            for (const Group& group : kGroups) {
                if (group.behind == each.field.name) all.emplace_back(group.name);
            }
        }
        return all;
    }();
    return keys;
}

bool isSetting(std::string_view text) {
    const auto path = SettingPath::from(text);
    return path && (path->group.empty() ? findTrialField(path->name) != nullptr : findGroup(path->group) != nullptr);
}

Problem unknownSetting(std::string_view path) {
    std::string known;
    for (const auto& key : settingKeys()) known += (known.empty() ? "" : ", ") + key;
    return {std::string(path), "spec.unknown-key", {shortText(path), known}};
}

std::vector<Setting> settingsOf(const TrialSpec& spec) {
    std::vector<Setting> all;
    for (const auto& key : settingKeys()) {
        const Group* group = findGroup(key);
        if (!group || group->choice) all.push_back({key, *readSetting(spec, key)});
        if (!group) continue;
        if (key == "dataset") all.push_back({"dataset.path", spec.dataPath.string()});
        for (const auto& [name, value] : settingsOfGroup(spec, *group)) all.push_back({key + '.' + name, value});
    }
    return all;
}

std::vector<Setting> settingsIn(std::string_view json) {
    std::vector<Setting> all;
    const auto object = OrderedJson::parse(json, nullptr, false);
    if (!object.is_object()) return all;
    for (const auto& [key, value] : object.items()) {
        if (!value.is_object()) all.push_back({key, valueOf(value)});
        if (!value.is_object()) continue;
        if (isChoice(key) && value.contains("id")) all.push_back({key, valueOf(value["id"])});  // then its settings
        for (const auto& [name, each] : value.items()) {
            const SettingPath path{key, name};
            if (!path.isChoice()) all.push_back({path.text(), valueOf(each)});
        }
    }
    return all;
}

std::optional<ParamValue> readSetting(const TrialSpec& spec, std::string_view text) {
    const auto path = SettingPath::from(text);
    if (!path) return std::nullopt;
    if (path->group.empty()) {
        const TrialField* field = findTrialField(path->name);
        return field ? std::optional(field->valueIn(spec)) : std::nullopt;
    }
    const Group* group = findGroup(path->group);
    if (!group) return std::nullopt;
    if (path->isChoice()) return (spec.*group->choice).id;
    if (isDataPath(*path)) return spec.dataPath.string();
    const auto& settings = settingsOfGroup(spec, *group);
    const auto found = settings.find(path->name);
    return found == settings.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Problem> writeSetting(TrialSpec& spec, std::string_view text, const ParamValue& value) {
    const auto path = SettingPath::from(text);
    if (!path) return unknownSetting(text);
    if (path->group.empty()) {
        if (const TrialField* field = findTrialField(path->name)) return field->writeTo(spec, value);
        if (findGroup(path->name)) return Problem{path->name, "spec.is-a-group", {}};
        return unknownSetting(text);
    }
    const Group* group = findGroup(path->group);
    if (!group) return unknownSetting(text);
    if (path->isChoice()) return choose(spec, *group, value);
    if (isDataPath(*path)) return writeText(text, value, spec.dataPath);
    settingsOfGroup(spec, *group)[path->name] = value;
    return std::nullopt;
}

bool takesText(std::string_view text) {
    const auto path = SettingPath::from(text);
    if (!path || path->isChoice() || isDataPath(*path)) return path.has_value();
    const TrialField* field = path->group.empty() ? findTrialField(path->name) : nullptr;
    return field && std::holds_alternative<std::string>(field->field.fallback);
}

ParamValue settingValue(std::string_view path, const std::string& written) {
    const auto json = OrderedJson::parse(written, nullptr, false);
    if (json.is_string()) return json.get<std::string>();
    if (takesText(path) || !json.is_primitive() || json.is_null() || json.is_discarded()) return written;
    const bool onlyDigits = written.find_first_not_of("0123456789") == written.npos;
    if (json.is_number_float() && isWhole(json.get<double>())) return static_cast<std::int64_t>(json.get<double>());
    // Digits that only a seed has room for stay what was written.
    if (path == "seed" && onlyDigits && (json.is_number_float() || isBeyondInteger(json))) return written;
    return isBeyondInteger(json) ? ParamValue(json.get<double>()) : valueOf(json);
}

std::string_view settingOption(std::string_view path) {
    const auto found = std::ranges::find(kOptions, path, [](const auto& each) { return each.first; });
    return found == std::end(kOptions) ? std::string_view() : found->second;
}

std::vector<std::string> trainArguments(std::span<const Setting> settings, std::span<const Setting> usual) {
    std::vector<Setting> ordered(settings.begin(), settings.end());
    std::ranges::stable_partition(
        ordered, [](const Setting& each) { return isChoice(each.path.substr(0, each.path.find('.'))); });
    std::vector<std::string> words;
    for (const Setting& each : ordered) {
        const auto path = SettingPath::from(each.path);
        if (!path || !isSaid(*path, each, settings, usual)) continue;
        const auto option = settingOption(each.path);
        words.emplace_back(option.empty() ? "--set" : option);
        words.push_back(option.empty() ? settingWord(each) : text(each.value));
    }
    return words;
}

}  // namespace lockstep
