#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/param_schema.h"
#include "engine/core/result.h"
#include "engine/spec/trial_spec.h"

namespace lockstep {

// Where a setting of a trial lies, as spec files, the command line, forms, comparisons and problems name it: "batch" is
// the trial's own, "optimizer" says which one, and behind a dot follow its settings: "optimizer.momentum".
struct SettingPath {
    std::string group;  // "optimizer"; empty: the trial's own
    std::string name;   // "momentum"; of a choice itself "id"

    static std::optional<SettingPath> from(std::string_view text);  // "optimizer.id" is "optimizer"
    std::string text() const;
    bool isChoice() const;  // which dataset, model, optimizer or schedule
    bool operator==(const SettingPath&) const = default;
};
bool isChoice(std::string_view group);  // "dataset", "model", "optimizer", "schedule"

// The keys of a spec, "title" first: in the order of its file, in which a person meets them.
const std::vector<std::string>& settingKeys();

struct Setting {
    std::string path;
    ParamValue value;  // a seed beyond 63 bits: its digits, as text
    bool operator==(const Setting&) const = default;
};

// All that a spec states, in the order of its file: every field of its own, and of its choices the settings that differ
// from the fallbacks.
std::vector<Setting> settingsOf(const TrialSpec& spec);
// The same of a spec file's text, whatever it holds; empty: it is no JSON object. What is no plain value is its JSON.
std::vector<Setting> settingsIn(std::string_view json);

// nullopt: the spec does not state it (a fallback holds), or there is no such setting.
std::optional<ParamValue> readSetting(const TrialSpec& spec, std::string_view path);

// Another choice drops the settings of the one before, and another dataset its path. Checks the kind of value, as far
// as the spec alone knows it; validate() knows ranges and the settings of choices. Problems: "spec.unknown-key",
// "spec.is-a-group", "spec.wrong-type"; "spec.out-of-range" of a seed.
std::optional<Problem> writeSetting(TrialSpec& spec, std::string_view path, const ParamValue& value);

// Whether a spec has a place for it; whether the chosen model has such a setting, its registry knows.
bool isSetting(std::string_view path);
Problem unknownSetting(std::string_view path);

// What a person wrote for the setting: true, 3, 1e3 and 0.5 are what they look like, "quoted text" and all else is
// text, as is everything where text is wanted.
ParamValue settingValue(std::string_view path, const std::string& written);
bool takesText(std::string_view path);  // a name, a title, a place; false where the spec alone does not know

// The option of the command line that gives this setting, for example "--lr"; empty: --set does. An option takes text
// as it is, without quotes.
std::string_view settingOption(std::string_view path);

// The words after `lockstep train` that mean the same: which dataset and model, and what differs from `usual`.
std::vector<std::string> trainArguments(std::span<const Setting> settings, std::span<const Setting> usual);

}  // namespace lockstep
