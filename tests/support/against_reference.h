#pragma once
#include <string>

#include "tests/support/op_cases.h"
#include "tests/support/update_cases.h"

namespace lockstep::test {

// A backend against the reference, on what the lists of cases have. What differs by more than it may, in words; nothing
// where all is well. Tolerances are the case's own times `factor`. Where
// the backend computes in f16 or bf16, the reference is given the case's inputs rounded to it.
std::string differences(const Backend& backend, const OpCase& opCase, const RunOptions& options, double factor = 1);
std::string differences(const Backend& backend, const GraphCase& graphCase, const RunOptions& options,
                        double factor = 1);
std::string differences(const Backend& backend, const UpdateCase& updateCase);

// What a precision allows of the tolerance of f32, by the bits that it has less.
double allowance(Precision precision);

}  // namespace lockstep::test
