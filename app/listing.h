#pragma once
#include <nlohmann/json.hpp>

#include "app/words.h"
#include "engine/train/environment.h"

namespace lockstep {

// What this machine offers, as JSON: for `--json` and for `lockstep serve`. Keys are snake_case.
using Json = nlohmann::ordered_json;

// "facts", of a card: see factsText(). "bf16_speed", of products of matrices, fp32's being 1, where it is known.
Json devicesJson(const Environment& environment, const Words& words);
// What --precision bf16 brings on a device, in words; empty: unknown.
std::string bf16Text(const Environment& environment, const DeviceInfo& info);
// "38 °C, 12 % busy, 95 of 700 W, 138.9 GiB free, driver 580.65.06, PCI 0000:1B:00.0; NVLink to cuda:1", of a card, as
// far as it is known.
std::string factsText(const DeviceFacts& facts);
Json datasetsJson(const Environment& environment);
Json modelsJson(const Environment& environment);
Json settingsJson();  // optimizers, schedules, augmentation, with their fields
Json schemaJson(const ParamSchema& schema);
Json reportJson(const DatasetReport& report, const Words& words);
Json problemsJson(const std::vector<Problem>& problems, const Words& words);
Json layersJson(const std::vector<LayerRow>& layers);

enum class Presence { Present, NeedsPath, Absent };
Presence presenceOf(const DatasetEntry& entry);  // whether its default place has data

std::string lineOf(const Json& json);  // one line, invalid UTF-8 replaced

}  // namespace lockstep
