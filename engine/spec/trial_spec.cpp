#include "engine/spec/trial_spec.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "engine/core/strict_json.h"
#include "engine/spec/json_problem.h"
#include "engine/spec/json_text.h"
#include "engine/spec/trial_fields.h"
#include "engine/spec/trial_settings.h"

namespace lockstep {

namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMaxFileBytes = 1 << 20;
constexpr JsonLimits kLimits{.depth = 8, .members = 1000};

// Reads one object key by key and remembers what is wrong with which path.
class Reader {
public:
    Reader(std::string_view fileName) : m_prefix(fileName.empty() ? "" : std::string(fileName) + ": ") {}

    void read(const Json& json, TrialSpec& spec) {
        if (!json.is_object()) return wrongType("", json, "an object");
        for (const auto& [key, value] : json.items()) readKey(key, value, spec);
    }

    std::vector<Problem> problems;

private:
    void readKey(const std::string& key, const Json& value, TrialSpec& spec) {
        const bool choice = isChoice(key);
        if (key.find('.') != key.npos) return add(key, unknownSetting(key));
        if (!choice && key != "augmentation") return write(key, value, spec);
        if (choice && value.is_string()) return write(key, value, spec);  // "sgd" is short for {"id": "sgd"}
        if (!value.is_object()) return wrongType(key, value, choice ? "a name or an object" : "an object");
        if (choice && value.contains("id")) write(key + ".id", value["id"], spec);
        for (const auto& [name, each] : value.items()) {
            if (!choice || name != "id") write(key + "." + name, each, spec);
        }
    }

    void write(const std::string& path, const Json& value, TrialSpec& spec) {
        const auto plain = plainValue(path, value);
        // No field of a trial takes true or false, so each says what it takes in place of a list or an object.
        auto problem = writeSetting(spec, path, plain.value_or(false));
        if (!plain && !problem) return wrongType(path, value, "a number, text, true or false");
        if (!problem) return;
        if (problem->code == "spec.wrong-type") return wrongType(path, value, problem->args[1]);
        add(path, std::move(*problem));
    }

    static std::optional<ParamValue> plainValue(const std::string& path, const Json& value) {
        if (value.is_boolean()) return value.get<bool>();
        if (value.is_number_integer() && !isBeyondInteger(value)) return value.get<std::int64_t>();
        if (value.is_number_unsigned() && path == "seed") return std::to_string(value.get<std::uint64_t>());
        if (value.is_number()) return value.get<double>();
        if (value.is_string()) return value.get<std::string>();
        return std::nullopt;
    }

    void wrongType(const std::string& path, const Json& value, std::string_view wanted) {
        add(path, {"", "spec.wrong-type", {shortText(value), std::string(wanted)}});
    }

    void add(const std::string& path, Problem problem) {
        problem.field = m_prefix + path;
        problems.push_back(std::move(problem));
    }

    std::string m_prefix;
};

OrderedJson jsonOf(const TrialSpec& spec) {
    OrderedJson json;
    for (const auto& key : settingKeys()) {
        json[key] = OrderedJson::object();
        if (const TrialField* field = findTrialField(key))
            std::visit([&](auto member) { json[key] = spec.*member; }, field->member);
    }
    for (const Setting& each : settingsOf(spec)) {
        const auto path = SettingPath::from(each.path);
        if (!path->group.empty())
            json[path->group][path->name] =
                std::visit([](const auto& value) { return OrderedJson(value); }, each.value);
    }
    return json;
}

std::string dumped(const TrialSpec& spec, int indent) {
    return jsonOf(spec).dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace

std::string dataName(const TrialSpec& spec) {
    return spec.dataPath.empty() ? spec.dataset.id : withoutLastSlash(spec.dataPath.string());
}

std::string withoutLastSlash(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
}

std::string dataText(const std::string& dataset, const std::string& name) {
    return dataset.empty() || dataset == name ? name : dataset + ' ' + name;
}

std::string toJson(const TrialSpec& spec) { return dumped(spec, 2) + "\n"; }

std::string toJsonLine(const TrialSpec& spec) { return dumped(spec, -1); }

Result<TrialSpec> trialSpecFromJson(std::string_view json, std::string_view fileName) {
    const auto parsed = parseStrictly(json, kLimits);
    if (const auto* fault = std::get_if<JsonFault>(&parsed)) return problemOf(*fault, kLimits, json, fileName);
    TrialSpec spec;
    Reader reader(fileName);
    reader.read(std::get<Json>(parsed), spec);
    if (!reader.problems.empty()) return reader.problems;
    return spec;
}

Result<std::string> specFileText(const std::filesystem::path& file) {
    errno = 0;
    std::error_code status;
    if (std::filesystem::is_directory(file, status)) {
        return Problem{file.string(), "spec.unreadable", {std::strerror(EISDIR)}};
    }
    std::ifstream stream(file, std::ios::binary);
    std::string text(kMaxFileBytes + 1, '\0');
    if (!stream) return Problem{file.string(), "spec.unreadable", {std::strerror(errno)}};
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    if (stream.bad()) return Problem{file.string(), "spec.unreadable", {std::strerror(errno)}};
    if (text.size() > kMaxFileBytes) return Problem{file.string(), "spec.too-large", {std::to_string(kMaxFileBytes)}};
    return text;
}

Result<TrialSpec> trialSpecFromFile(const std::filesystem::path& file) {
    const auto text = specFileText(file);
    return text.ok() ? trialSpecFromJson(text.value(), file.string()) : Result<TrialSpec>(text.problems());
}

}  // namespace lockstep
