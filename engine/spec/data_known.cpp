#include "engine/spec/data_known.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "engine/spec/json_fields.h"

namespace lockstep {

namespace {

using Json = nlohmann::json;

// Another kind of number than this one would be compared with is as good as none.
constexpr int kFingerprintVersion = 1;

Json toJson(const SplitFingerprint& split) {
    std::array<char, 24> content{};
    std::snprintf(content.data(), content.size(), "%016" PRIx64, split.content);
    return {{"samples", split.samples}, {"content", content.data()}};
}

std::uint64_t bitsIn(const std::string& text) {
    std::uint64_t bits = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
    if (error != std::errc() || end != text.data() + text.size()) throw BadJsonField{"content"};
    return bits;
}

SplitFingerprint splitIn(const Json& data, const char* name) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
    const Json split = data.value(name, Json());
    if (!split.is_object() || !split.contains("samples") || !split.contains("content")) throw BadJsonField{name};
    const Json &samples = split["samples"], &content = split["content"];
    if (!samples.is_number_unsigned() || samples.get<std::uint64_t>() > kMost) throw BadJsonField{"samples"};
    if (!content.is_string()) throw BadJsonField{"content"};
    return {samples.get<std::int64_t>(), bitsIn(content.get_ref<const std::string&>())};
}

// Of trainedOnText() what is asked about here.
Json memberOf(const DataKnown& known, const char* key) {
    const Json object = Json::parse(known.trainedOn, nullptr, false);
    return object.is_object() ? object.value(key, Json()) : Json();
}

}  // namespace

std::string fingerprintText(const DataFingerprint& data) {
    Json json{{"version", kFingerprintVersion}, {"train", toJson(data.train)}, {"test", toJson(data.test)}};
    if (data.validation.samples > 0) json["validation"] = toJson(data.validation);
    return json.dump();
}

std::optional<DataFingerprint> fingerprintFrom(const Json& json) {
    if (!json.is_object() || !json.contains("version")) throw BadJsonField{"version"};
    if (json["version"] != kFingerprintVersion) return std::nullopt;
    DataFingerprint data{splitIn(json, "train"), splitIn(json, "test")};
    if (json.contains("validation")) data.validation = splitIn(json, "validation");
    return data;
}

std::optional<DataFingerprint> fingerprintIn(std::string_view text) {
    try {
        return fingerprintFrom(Json::parse(text, nullptr, false));
    } catch (const BadJsonField&) {
        return std::nullopt;
    }
}

// Where the dataset has no validation samples of its own, some of the training samples were held out.
std::vector<std::string> changedSplits(const DataFingerprint& before, const DataFingerprint& now,
                                       std::string_view split) {
    const bool hadOwn = before.validation.samples > 0, hasOwn = now.validation.samples > 0;
    const bool asksAll = split == "all", asksHeldOut = split == "validation" && !hadOwn && !hasOwn;
    std::vector<std::string> changed;
    if ((asksAll || split == "train" || asksHeldOut) && before.train != now.train) changed.emplace_back("training");
    if ((asksAll ? hadOwn && hasOwn : split == "validation") && before.validation != now.validation)
        changed.emplace_back("validation");
    if ((asksAll || split == "test") && before.test != now.test) changed.emplace_back("test");
    return changed;
}

std::vector<std::string> classesOf(const DataKnown& known) {
    const Json classes = memberOf(known, "classes");
    std::vector<std::string> names;
    if (!classes.is_array()) return names;
    for (const Json& each : classes) {
        if (!each.is_string()) return {};
        names.push_back(each.get<std::string>());
    }
    return names;
}

bool readAlike(const DataKnown& one, const DataKnown& other) {
    const Json fields = memberOf(one, "fields");
    return !fields.is_null() && fields == memberOf(other, "fields") &&
           memberOf(one, "dataset") == memberOf(other, "dataset");
}

}  // namespace lockstep
