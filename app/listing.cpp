#include "app/listing.h"

#include <fmt/format.h>

#include <cstdlib>

#include "app/format.h"
#include "engine/core/bytes_text.h"
#include "engine/core/printable.h"
#include "engine/spec/data_known.h"

namespace lockstep {

namespace {

template <class Message>
Json rowsOf(const std::vector<Message>& messages) {
    Json rows = Json::array();
    for (const auto& each : messages) rows.push_back(Json::parse(jsonOf(each)));
    return rows;
}

}  // namespace

ServeWords serveWords(const Words& words) {
    const auto told = [&words](const Problem& problem) {
        return ToldProblem{problem, words.what(problem), words.remedy(problem)};
    };
    return {told, factsText};
}

Json problemsJson(const std::vector<Problem>& problems, const Words& words) {
    return rowsOf(toldAll(problems, serveWords(words)));
}

Json schemaJson(const ParamSchema& schema) { return rowsOf(schema); }

Json layersJson(const Graph& forward) { return rowsOf(plannedLayers(forward)); }

Json fingerprintJson(const std::optional<DataFingerprint>& fingerprint) {
    return fingerprint ? Json::parse(fingerprintText(*fingerprint)) : Json();
}

std::string settingsText(const std::string& group, const ParamSchema& schema) {
    Table settings({"SETTING", "DEFAULT", "MEANING"});
    for (const ParamField& field : schema) {
        std::string choices;
        for (const std::string& choice : field.choices) choices += (choices.empty() ? " (" : ", ") + choice;
        settings.add(
            {group + '.' + field.name, text(field.fallback), field.meaning + (choices.empty() ? "" : choices + ")")});
    }
    return settings.text();
}

std::string lineOf(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

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

static const char* unitsText(ProductUnits units) {
    switch (units) {
        case ProductUnits::Tiles: return "bf16 is multiplied in tiles (AMX)";
        case ProductUnits::TilesDenied:
            return "the processor has tiles for bf16 (AMX), which the system does not permit this process";
        case ProductUnits::PairsDenied:
            return "the processor's instructions for pairs of bf16 (AVX512_BF16) are not to be used, so that what is "
                   "multiplied is floats that were rounded to it";
        case ProductUnits::Pairs: return "bf16 is multiplied in pairs (AVX512_BF16)";
        case ProductUnits::SlowPairs:
            return "the processor multiplies pairs of bf16 (AVX512_BF16) more slowly than floats, so that what is "
                   "multiplied is floats that were rounded to it";
        case ProductUnits::None: return "the processor has no instructions for bf16, so that rounding to it costs time";
        case ProductUnits::Unknown: break;
    }
    return "bf16 is offered";
}

// oneDNN's variable for instructions: what it takes away is not the processor's doing.
static std::string isaLimitText() {
    for (const char* name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}) {
        if (const char* value = std::getenv(name)) return fmt::format(" ({}={} limits it)", name, printable(value));
    }
    return {};
}

std::string bf16Text(const Environment& environment, const DeviceInfo& info) {
    const double speed = environment.backend(info.backend)->productSpeed(Precision::Bf16);
    if (speed == 0) return {};
    return fmt::format(
        "{}{}; products of matrices in bf16 run at {:.2f} times the speed of fp32. What that brings a model: lockstep "
        "bench --model NAME --precision auto",
        unitsText(environment.backend(info.backend)->productUnits(Precision::Bf16)), isaLimitText(), speed);
}

}  // namespace lockstep
