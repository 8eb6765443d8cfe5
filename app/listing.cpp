#include "app/listing.h"

#include <fmt/format.h>

#include "engine/core/bytes_text.h"
#include "engine/data/augment.h"
#include "engine/ops/update.h"
#include "engine/train/schedule.h"

namespace lockstep {

namespace {

Json valueJson(const ParamValue& value) {
    return std::visit([](const auto& each) { return Json(each); }, value);
}

const char* kindOf(const ParamValue& value) {
    constexpr const char* kNames[] = {"flag", "integer", "number", "text"};
    return kNames[value.index()];
}

Json fieldsJson(const std::vector<Field>& fields) {
    Json out = Json::array();
    for (const auto& field : fields) {
        out.push_back({{"name", field.name}, {"type", text(field.type.dtype)}, {"shape", field.type.shape.dims()}});
    }
    return out;
}

const char* text(Presence presence) {
    switch (presence) {
        case Presence::Present: return "present";
        case Presence::NeedsPath: return "needs-path";
        case Presence::Absent: return "absent";
    }
    return "?";
}

}  // namespace

Json schemaJson(const ParamSchema& schema) {
    Json out = Json::array();
    for (const auto& field : schema) {
        Json row = {{"name", field.name}, {"kind", kindOf(field.fallback)}, {"fallback", valueJson(field.fallback)}};
        if (field.low) row["low"] = *field.low;
        if (field.high) row["high"] = *field.high;
        if (!field.choices.empty()) row["choices"] = field.choices;
        row["unit"] = field.unit;
        row["meaning"] = field.meaning;
        out.push_back(std::move(row));
    }
    return out;
}

Json problemsJson(const std::vector<Problem>& problems, const Words& words) {
    Json out = Json::array();
    for (const auto& problem : problems) {
        out.push_back({{"field", problem.field},
                       {"code", problem.code},
                       {"args", problem.args},
                       {"what", words.what(problem)},
                       {"remedy", words.remedy(problem)}});
    }
    return out;
}

Json devicesJson(const Environment& environment, const Words& words) {
    Json devices = Json::array();
    for (const auto& info : environment.devices()) {
        devices.push_back({{"id", info.id},
                           {"name", info.name},
                           {"backend", info.backend},
                           {"memory_bytes", info.memoryBytes},
                           {"cores", info.cores}});
        if (!info.facts.bus.empty()) devices.back()["facts"] = factsText(info.facts);
        const double speed = environment.backend(info.backend)->productSpeed(Precision::Bf16);
        if (speed > 0) devices.back()["bf16_speed"] = speed;
    }
    Json missing = Json::array();
    for (const auto& [backend, reason] : environment.missing()) {
        missing.push_back({{"backend", backend}, {"problems", problemsJson({reason}, words)}});
    }
    return {{"devices", devices}, {"missing", missing}};
}

std::string factsText(const DeviceFacts& facts) {
    std::vector<std::string> parts;
    if (facts.celsius) parts.push_back(fmt::format("{} °C", *facts.celsius));
    if (facts.busyPercent) parts.push_back(fmt::format("{} % busy", *facts.busyPercent));
    if (facts.watts) {
        parts.push_back(facts.mostWatts ? fmt::format("{} of {} W", *facts.watts, *facts.mostWatts)
                                        : fmt::format("{} W", *facts.watts));
    }
    if (facts.freeBytes > 0) parts.push_back(bytesText(facts.freeBytes) + " free");
    if (!facts.driver.empty()) parts.push_back("driver " + facts.driver);
    if (!facts.bus.empty()) parts.push_back("PCI " + facts.bus);
    std::string text = fmt::format("{}", fmt::join(parts, ", "));
    for (const auto& [device, link] : facts.links) text += fmt::format("; {} to {}", link, device);
    return text;
}

std::string bf16Text(const Environment& environment, const DeviceInfo& info) {
    const double speed = environment.backend(info.backend)->productSpeed(Precision::Bf16);
    if (speed == 0) return {};
    return fmt::format("products of matrices in bf16 run at {:.2f} times the speed of fp32{}", speed,
                       speed < 1 ? ": bf16 is slower on this processor" : "");
}

Presence presenceOf(const DatasetEntry& entry) {
    if (entry.defaultPath.empty()) return entry.needsPath ? Presence::NeedsPath : Presence::Present;
    std::error_code ignored;
    return std::filesystem::exists(entry.defaultPath, ignored) ? Presence::Present : Presence::Absent;
}

Json datasetsJson(const Environment& environment) {
    Json out = Json::array();
    for (const auto& entry : environment.datasets()) {
        out.push_back({{"id", entry.id},
                       {"title", entry.title},
                       {"meaning", entry.meaning},
                       {"state", text(presenceOf(entry))},
                       {"path", entry.defaultPath.string()},
                       {"remedy", entry.remedy},
                       {"params", schemaJson(entry.params)}});
    }
    return {{"datasets", out}};
}

Json modelsJson(const Environment& environment) {
    Json out = Json::array();
    for (const auto& model : environment.models()) {
        out.push_back({{"id", model.name},
                       {"meaning", model.meaning},
                       {"task", std::string(text(model.task))},
                       {"params", schemaJson(model.params)}});
    }
    return {{"models", out}};
}

Json settingsJson() {
    Json optimizers = Json::array();
    for (const auto& rule : updateRules())
        optimizers.push_back({{"id", rule.name}, {"params", schemaJson(rule.params)}});
    Json curves = Json::array();
    for (const auto& entry : schedules()) {
        curves.push_back({{"id", entry.name}, {"meaning", entry.meaning}, {"params", schemaJson(entry.params)}});
    }
    return {{"optimizers", optimizers}, {"schedules", curves}, {"augmentation", schemaJson(augmentationSchema())}};
}

Json reportJson(const DatasetReport& report, const Words& words) {
    Json skipped = Json::array();
    for (const auto& each : report.skipped) {
        skipped.push_back({{"file", each.file.string()}, {"problems", problemsJson({each.reason}, words)}});
    }
    return {{"format", report.format},
            {"fields", fieldsJson(report.fields)},
            {"train_count", report.trainCount},
            {"test_count", report.testCount},
            {"classes", report.classes},
            {"train_per_class", report.trainPerClass},
            {"test_per_class", report.testPerClass},
            {"skipped", skipped},
            {"warnings", problemsJson(report.warnings, words)}};
}

Json layersJson(const std::vector<LayerRow>& layers) {
    Json out = Json::array();
    for (const auto& row : layers) {
        out.push_back({{"name", row.name}, {"op", row.op}, {"output", row.output}, {"parameters", row.parameters}});
    }
    return out;
}

std::string lineOf(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace lockstep
