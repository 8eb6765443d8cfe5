#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/core/param_schema.h"
#include "engine/spec/trial_spec.h"

namespace lockstep {

// A setting of a trial that belongs to none of its choices: its key in JSON, kind, fallback, range and meaning, and
// where it lies in a spec. The seed is a whole number from 0 that needs all 64 bits.
struct TrialField {
    using Member = std::variant<std::string TrialSpec::*, std::int64_t TrialSpec::*, double TrialSpec::*,
                                std::uint64_t TrialSpec::*>;
    ParamField field;
    Member member;

    ParamValue valueIn(const TrialSpec& spec) const;  // a seed beyond 63 bits: its digits, as text
    // A whole number is taken for a number. Problems: "spec.wrong-type"; "spec.out-of-range" of a seed.
    std::optional<Problem> writeTo(TrialSpec& spec, const ParamValue& value) const;
};

// All of them, in the order in which a person meets them. JSON, validate() and forms follow this one list.
const std::vector<TrialField>& trialFields();
const TrialField* findTrialField(std::string_view name);  // null: there is none

Problem wrongType(std::string_view path, const ParamValue& value, std::string_view wanted);

}  // namespace lockstep
