#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "engine/core/param_schema.h"

namespace lockstep {

// What a person asks of a setting: "0.9", ">=0.01", "<1", "=sgd", "cosine". Numbers compare as numbers, whole or not;
// a text must contain the words, after "=" be equal to them, whatever the case of A to Z. "default" asks for a setting
// that is not stated, so that its fallback holds; no other condition holds for it.
class SettingCondition {
public:
    SettingCondition(std::string path, std::string_view asked);
    const std::string& path() const { return m_path; }  // see trial_settings.h
    bool isEmpty() const { return m_words.empty(); }    // still being written: it asks for nothing
    bool holds(const std::optional<ParamValue>& value) const;

private:
    std::string m_path, m_compare, m_words;  // m_compare: "", "=", "<", "<=", ">", ">="
    std::optional<double> m_number;
};

}  // namespace lockstep
