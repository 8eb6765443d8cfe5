#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/core/param_schema.h"
#include "engine/core/result.h"

namespace lockstep {

// Numbers from `low` to `high`, both included. On a log scale equal ratios are equally likely. Whole: whole numbers.
// With a step: low, low + step, low + 2 step…; with points: so many, equally far apart on the scale.
struct NumberRange {
    double low = 0, high = 1;
    bool isLog = false;
    std::optional<bool> isWhole = {};  // empty: nobody has said
    double step = 0;                   // 0: none
    std::int64_t points = 0;           // 0: none
    bool operator==(const NumberRange&) const = default;
};
using ChoiceOfValues = std::vector<ParamValue>;

// A dimension counts only while another setting has one of these values.
struct DimensionCondition {
    std::string path;
    ChoiceOfValues values;
    bool operator==(const DimensionCondition&) const = default;
};

// The part of the unit interval that means a value; its middle is where the value itself lies on the scale. Of a number
// among as many as numbers have digits it is a point.
struct UnitShare {
    double low = 0, middle = 0, high = 0;
    std::int64_t placeAmong(std::int64_t count) const;  // 0, 1… of equal parts
};

// The values that a setting may take in a search.
struct Dimension {
    std::string path;  // see spec/trial_settings.h
    std::variant<ChoiceOfValues, NumberRange> values;
    std::vector<DimensionCondition> when = {};  // all of them must hold; empty: always

    // How many values it has; nullopt: as many as numbers have digits.
    std::optional<std::int64_t> count() const;
    ParamValue value(std::int64_t index) const;  // of a countable one, in order
    // What a point u in [0, 1) of the unit interval means: equal lengths are equally likely values.
    ParamValue valueAt(double u) const;
    // The inverse; nullopt: it has no such value.
    std::optional<UnitShare> shareOf(const ParamValue& value) const;
    // Whether values that lie beside each other are alike: numbers that go up or down.
    bool isOrdered() const;

    bool operator==(const Dimension&) const = default;
};

std::optional<double> numberOf(const ParamValue& value);  // nullopt: text, true or false

// What is wrong with it by itself: "search.no-values", "search.inverted", "search.log-of-nothing", "search.step",
// "search.step-and-points", "search.not-a-number", "search.twice" (a value), "search.too-many-values".
std::optional<Problem> check(const Dimension& dimension);

// Numbers from a scale are told to so many digits that a ten-thousandth of the range is seen.
double readable(const NumberRange& range, double value);

}  // namespace lockstep
