#include "engine/spec/trial_spec.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "engine/core/strict_json.h"
#include "engine/spec/json_text.h"
#include "engine/spec/trial_fields.h"

namespace lockstep {

namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;
using Params = std::map<std::string, ParamValue>;

constexpr std::size_t kMaxFileBytes = 1 << 20;
constexpr JsonLimits kLimits{.depth = 8, .members = 1000};

OrderedJson jsonOf(const ParamValue& value) {
    return std::visit([](const auto& each) { return OrderedJson(each); }, value);
}

void putParams(OrderedJson& object, const Params& params) {
    for (const auto& [name, value] : params) object[name] = jsonOf(value);
}

OrderedJson jsonOf(const Choice& choice) {
    OrderedJson object = {{"id", choice.id}};
    putParams(object, choice.params);
    return object;
}

// Reads one object key by key and remembers what is wrong with which path.
class Reader {
public:
    Reader(std::string_view fileName) : m_prefix(fileName.empty() ? "" : std::string(fileName) + ": ") {}

    void read(const Json& json, TrialSpec& spec) {
        if (!json.is_object()) return wrongType("", json, "an object");
        for (const auto& [key, value] : json.items()) {
            if (!readKey(key, value, spec)) unknown(key);
        }
    }

    std::vector<Problem> problems;

private:
    bool readKey(const std::string& key, const Json& value, TrialSpec& spec) {
        if (key == "dataset") readChoice(key, value, spec.dataset, &spec.dataPath);
        else if (key == "model") readChoice(key, value, spec.model);
        else if (key == "optimizer") readChoice(key, value, spec.optimizer);
        else if (key == "schedule") readChoice(key, value, spec.schedule);
        else if (key == "augmentation") readParams(key, value, spec.augmentation);
        else return readField(key, value, spec);
        return true;
    }

    bool readField(const std::string& key, const Json& value, TrialSpec& spec) {
        const auto found = std::ranges::find(trialFields(), key, [](const auto& each) { return each.field.name; });
        if (found == trialFields().end()) return false;
        std::visit([&](auto member) { readValue(key, value, spec.*member); }, found->member);
        return true;
    }

    void readValue(const std::string& path, const Json& value, std::string& out) {
        if (!value.is_string()) return wrongType(path, value, "text");
        out = value.get<std::string>();
    }

    void readValue(const std::string& path, const Json& value, double& out) {
        if (!value.is_number()) return wrongType(path, value, "a number");
        out = value.get<double>();
    }

    void readValue(const std::string& path, const Json& value, std::int64_t& out) {
        if (!fitsInteger(value)) return wrongType(path, value, "a whole number");
        out = value.get<std::int64_t>();
    }

    void readValue(const std::string& path, const Json& value, std::uint64_t& out) {
        if (!value.is_number_unsigned()) return wrongType(path, value, "a whole number from 0");
        out = value.get<std::uint64_t>();
    }

    // "sgd" is short for {"id": "sgd"}. A choice of another id starts without settings.
    void readChoice(const std::string& path, const Json& value, Choice& out, std::filesystem::path* folder = nullptr) {
        if (value.is_string()) {
            out = {value.get<std::string>(), {}};
            return;
        }
        if (!value.is_object()) return wrongType(path, value, "a name or an object");
        out.params.clear();
        for (const auto& [key, each] : value.items()) {
            const auto inner = path + "." + key;
            std::string place;
            if (key == "id") readValue(inner, each, out.id);
            else if (key == "path" && folder) readValue(inner, each, place), *folder = place;
            else readParam(inner, key, each, out.params);
        }
    }

    void readParams(const std::string& path, const Json& value, Params& out) {
        if (!value.is_object()) return wrongType(path, value, "an object");
        out.clear();
        for (const auto& [key, each] : value.items()) readParam(path + "." + key, key, each, out);
    }

    void readParam(const std::string& path, const std::string& key, const Json& value, Params& out) {
        if (value.is_boolean()) out[key] = value.get<bool>();
        else if (fitsInteger(value)) out[key] = value.get<std::int64_t>();
        else if (value.is_number_float()) out[key] = value.get<double>();
        else if (value.is_string()) out[key] = value.get<std::string>();
        else wrongType(path, value, "a number, text, true or false");
    }

    static bool fitsInteger(const Json& value) {
        if (!value.is_number_integer()) return false;
        return !value.is_number_unsigned() || value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
    }

    void wrongType(const std::string& path, const Json& value, const char* wanted) {
        problems.push_back({m_prefix + path, "spec.wrong-type", {shortText(value), wanted}});
    }

    void unknown(const std::string& key) {
        std::string known;
        const OrderedJson usual = OrderedJson::parse(toJson(TrialSpec()));
        for (const auto& [each, value] : usual.items()) known += (known.empty() ? "" : ", ") + each;
        problems.push_back({m_prefix + key, "spec.unknown-key", {key, known}});
    }

    std::string m_prefix;
};

Problem malformed(std::string_view json, std::size_t byte, std::string_view fileName) {
    const auto before = json.substr(0, byte == 0 ? 0 : byte - 1);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto start = before.rfind('\n');
    const auto column = 1 + before.size() - (start == before.npos ? 0 : start + 1);
    return {std::string(fileName), "spec.malformed", {std::to_string(line), std::to_string(column)}};
}

Problem problemOf(const JsonFault& fault, std::string_view json, std::string_view fileName) {
    const std::string file(fileName);
    switch (fault.kind) {
        case JsonFault::Kind::Malformed: break;
        case JsonFault::Kind::TooDeep: return {file, "spec.too-deep", {std::to_string(kLimits.depth)}};
        case JsonFault::Kind::TooMany: return {file, "spec.too-many", {std::to_string(kLimits.members)}};
        case JsonFault::Kind::DuplicateKey:
            return {file.empty() ? fault.path : file + ": " + fault.path, "spec.duplicate-key", {fault.key}};
    }
    return malformed(json, fault.byte, fileName);
}

}  // namespace

std::string toJson(const TrialSpec& spec) {
    OrderedJson dataset = {{"id", spec.dataset.id}, {"path", spec.dataPath.string()}};
    putParams(dataset, spec.dataset.params);
    OrderedJson augmentation = OrderedJson::object();
    putParams(augmentation, spec.augmentation);
    OrderedJson json;
    for (const TrialField& each : trialFields()) {
        const std::string& name = each.field.name;
        std::visit([&](auto member) { json[name] = spec.*member; }, each.member);
        if (name == "title") json["dataset"] = dataset, json["model"] = jsonOf(spec.model);
        if (name == "epochs") json["optimizer"] = jsonOf(spec.optimizer);
        if (name == "learning_rate_batch")
            json["schedule"] = jsonOf(spec.schedule), json["augmentation"] = augmentation;
    }
    return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

Result<TrialSpec> trialSpecFromJson(std::string_view json, std::string_view fileName) {
    const auto parsed = parseStrictly(json, kLimits);
    if (const auto* fault = std::get_if<JsonFault>(&parsed)) return problemOf(*fault, json, fileName);
    TrialSpec spec;
    Reader reader(fileName);
    reader.read(std::get<Json>(parsed), spec);
    if (!reader.problems.empty()) return reader.problems;
    return spec;
}

Result<TrialSpec> trialSpecFromFile(const std::filesystem::path& file) {
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
    return trialSpecFromJson(text, file.string());
}

}  // namespace lockstep
