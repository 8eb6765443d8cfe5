#pragma once
#include <cstdint>
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

    ParamValue valueIn(const TrialSpec& spec) const;  // a seed beyond 63 bits: the largest whole number
};

// All of them, in the order in which a person meets them. JSON, validate() and forms follow this one list.
const std::vector<TrialField>& trialFields();

}  // namespace lockstep
