#include "engine/spec/setting_condition.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace lockstep {

namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

std::optional<double> parsedNumber(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<double> numberOf(const ParamValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    const auto* number = std::get_if<double>(&value);
    return number ? std::optional(*number) : std::nullopt;
}

bool compares(double a, const std::string& compare, double b) {
    if (compare == "<") return a < b;
    if (compare == "<=") return a <= b;
    if (compare == ">") return a > b;
    return compare == ">=" ? a >= b : a == b;
}

}  // namespace

SettingCondition::SettingCondition(std::string path, std::string_view asked) : m_path(std::move(path)) {
    constexpr std::array<std::string_view, 5> kCompares = {"<=", ">=", "<", ">", "="};
    const auto found = std::ranges::find_if(kCompares, [&](auto each) { return asked.starts_with(each); });
    if (found != kCompares.end()) m_compare = *found;
    m_words = lower(asked.substr(m_compare.size()));
    m_number = parsedNumber(m_words);
}

bool SettingCondition::holds(const std::optional<ParamValue>& value) const {
    const bool isEquality = m_compare.empty() || m_compare == "=";
    if (!value) return isEquality && m_words == "default";
    if (const auto number = numberOf(*value)) return m_number && compares(*number, m_compare, *m_number);
    const std::string words = lower(text(*value));
    return isEquality && (m_compare.empty() ? words.find(m_words) != words.npos : words == m_words);
}

}  // namespace lockstep
