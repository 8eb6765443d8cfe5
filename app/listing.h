#pragma once
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

#include "app/words.h"
#include "engine/core/data_fingerprint.h"
#include "engine/serve/offers.h"

namespace lockstep {

// What commands print with `--json`. Keys are snake_case.
using Json = nlohmann::ordered_json;

ServeWords serveWords(const Words& words);  // `words` must outlive them

Json problemsJson(const std::vector<Problem>& problems, const Words& words);
Json schemaJson(const ParamSchema& schema);
Json layersJson(const Graph& forward);

Json fingerprintJson(const std::optional<DataFingerprint>& fingerprint);  // null where there is none

// A table of settings for people, each behind its group and a dot: "model.width".
std::string settingsText(const std::string& group, const ParamSchema& schema);

std::string lineOf(const Json& json);  // one line, invalid UTF-8 replaced

// What --precision bf16 brings on a device, in words; empty: unknown.
std::string bf16Text(const Environment& environment, const DeviceInfo& info);
// "38 °C, 12 % busy, 95 of 700 W, 138.9 GiB free, driver 580.65.06, PCI 0000:1B:00.0; NVLink to cuda:1", of a card, as
// far as it is known.
std::string factsText(const DeviceFacts& facts);

}  // namespace lockstep
