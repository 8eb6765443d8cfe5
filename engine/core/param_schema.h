#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/core/result.h"

namespace lockstep {

using ParamValue = std::variant<bool, std::int64_t, double, std::string>;

// One setting of a model, dataset, optimizer, schedule or augmentation. Drives validation, JSON, the command line's
// help and the window's form alike. The kind of `fallback` is the kind of the field.
struct ParamField {
    std::string name;  // "momentum"; the JSON key
    ParamValue fallback;
    std::optional<double> low, high;   // inclusive; numbers only
    std::vector<std::string> choices;  // non-empty: a string field takes one of these
    std::string unit;                  // "pixels", "epochs", "" for a bare number; "file": text that is a path
    std::string meaning;               // one plain sentence, for help and tooltips
};
using ParamSchema = std::vector<ParamField>;

// What is wrong with the value of a field, named by `path`, if anything is: "spec.wrong-type", "spec.out-of-range",
// "spec.not-a-choice".
std::optional<Problem> check(const ParamField& field, const ParamValue& value, const std::string& path);

// Name -> value, always complete and valid for its schema.
class ParamValues {
public:
    ParamValues() = default;
    explicit ParamValues(const ParamSchema& schema);  // all fallbacks

    // Checks `given` against the schema: unknown names ("spec.unknown-key"), wrong kinds ("spec.wrong-type"), values
    // out of range ("spec.out-of-range") or not among the choices ("spec.not-a-choice"). `field` prefixes the problems'
    // fields. An integer is accepted for a double field.
    static Result<ParamValues> from(const ParamSchema& schema, const std::map<std::string, ParamValue>& given,
                                    std::string_view field);

    // Throw EngineError (Internal) for a name that the schema does not have.
    bool flag(std::string_view name) const;
    std::int64_t integer(std::string_view name) const;
    double number(std::string_view name) const;
    const std::string& string(std::string_view name) const;

    const std::map<std::string, ParamValue, std::less<>>& all() const { return m_values; }
    bool operator==(const ParamValues&) const = default;

private:
    std::map<std::string, ParamValue, std::less<>> m_values;
};

std::string text(const ParamValue& value);

}  // namespace lockstep
