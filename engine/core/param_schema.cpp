#include "engine/core/param_schema.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>

#include "engine/core/error.h"

namespace lockstep {

namespace {

// The shortest digits that read back as the same value; 0.0005 rather than 5e-04.
std::string number(double value) {
    char buffer[64];
    const double size = std::abs(value);
    const auto format =
        value == 0 || (size >= 1e-4 && size < 1e15) ? std::chars_format::fixed : std::chars_format::general;
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, format).ptr;
    return {buffer, end};
}

// Who asks for a name knows the schema that the values were made with.
const ParamValue& valueOf(const ParamValues& values, std::string_view name) {
    const auto found = values.all().find(name);
    if (found != values.all().end()) return found->second;
    throw EngineError(EngineError::Kind::Internal, std::string(name), "a parameter that was never set is asked for");
}

const char* kindOf(const ParamValue& value) {
    constexpr const char* kNames[] = {"true or false", "a whole number", "a number", "text"};
    return kNames[value.index()];
}

std::optional<double> asNumber(const ParamValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return std::nullopt;
}

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const auto& word : words) out += (out.empty() ? "" : ", ") + word;
    return out;
}

}  // namespace

std::string text(const ParamValue& value) {
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
    if (const auto* real = std::get_if<double>(&value)) return number(*real);
    return std::get<std::string>(value);
}

std::optional<Problem> check(const ParamField& field, const ParamValue& value, const std::string& path) {
    const auto numeric = asNumber(value);
    if (numeric) {
        const bool inside = (!field.low || *numeric >= *field.low) && (!field.high || *numeric <= *field.high);
        if (!inside || *numeric != *numeric) {
            return Problem{
                path,
                "spec.out-of-range",
                {text(value), field.low ? number(*field.low) : "-inf", field.high ? number(*field.high) : "inf"}};
        }
    }
    if (!field.choices.empty() && std::ranges::find(field.choices, text(value)) == field.choices.end()) {
        return Problem{path, "spec.not-a-choice", {text(value), joined(field.choices)}};
    }
    return std::nullopt;
}

ParamValues::ParamValues(const ParamSchema& schema) {
    for (const auto& field : schema) m_values.emplace(field.name, field.fallback);
}

Result<ParamValues> ParamValues::from(const ParamSchema& schema, const std::map<std::string, ParamValue>& given,
                                      std::string_view prefix) {
    ParamValues values(schema);
    std::vector<Problem> problems;
    for (const auto& [name, raw] : given) {
        const std::string path = prefix.empty() ? name : std::string(prefix) + "." + name;
        const auto field = std::ranges::find(schema, name, &ParamField::name);
        if (field == schema.end()) {
            std::vector<std::string> known;
            for (const auto& each : schema) known.push_back(each.name);
            problems.push_back({path, "spec.unknown-key", {name, known.empty() ? "none" : joined(known)}});
            continue;
        }
        ParamValue value = raw;
        if (std::holds_alternative<double>(field->fallback) && std::holds_alternative<std::int64_t>(value)) {
            value = static_cast<double>(std::get<std::int64_t>(value));
        }
        if (value.index() != field->fallback.index()) {
            problems.push_back({path, "spec.wrong-type", {text(raw), kindOf(field->fallback)}});
        } else if (auto problem = check(*field, value, path)) {
            problems.push_back(std::move(*problem));
        } else {
            values.m_values[name] = std::move(value);
        }
    }
    if (!problems.empty()) return problems;
    return values;
}

bool ParamValues::flag(std::string_view name) const { return std::get<bool>(valueOf(*this, name)); }
std::int64_t ParamValues::integer(std::string_view name) const { return std::get<std::int64_t>(valueOf(*this, name)); }
double ParamValues::number(std::string_view name) const { return std::get<double>(valueOf(*this, name)); }
const std::string& ParamValues::string(std::string_view name) const {
    return std::get<std::string>(valueOf(*this, name));
}

}  // namespace lockstep
