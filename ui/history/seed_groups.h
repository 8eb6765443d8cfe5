#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "engine/spec/trial_spec.h"

namespace lockstep::ui {

// Indexes of the specs that say the same but for seed and title; groups and members in the specs' order. Of thousands
// in tenths of a second.
std::vector<std::vector<std::size_t>> seedGroups(std::span<const TrialSpec> specs);

struct CurvePoints {
    std::vector<double> x, y;  // x ascending
};

// Mean, sample standard deviation (n - 1; 0 where only one curve reaches) and extremes over the union of the curves' x.
// Between two of its points a curve runs straight; it says nothing before its first and after its last. Points without
// a finite y do not count.
struct CurveBand {
    std::vector<double> x, mean, deviation, low, high;
    std::vector<int> count;  // curves that reach there
};
CurveBand bandOf(std::span<const CurvePoints> curves);

}  // namespace lockstep::ui
