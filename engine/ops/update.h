#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/param_schema.h"
#include "engine/graph/graph.h"
#include "engine/ops/update_gate.h"
#include "engine/ops/update_rule.h"

namespace lockstep {

std::string describe(const UpdateRule& rule);

// Averages follow the update of number t (from 1): average += (1 - d) (parameter - average), d = min(decay, (1 + t) /
// (10 + t)), so that they soon forget the initial values, as TensorFlow's ExponentialMovingAverage with num_updates
// (tensorflow/python/training/moving_averages.py). `updates`: done before this one.
constexpr double averageDecayAt(double decay, std::int64_t updates) {
    const auto number = static_cast<double>(updates + 1), early = (1 + number) / (10 + number);
    return decay < early ? decay : early;
}

// Five steps X <- a X + b X Xt X + c X Xt X Xt X from X / ‖X‖ (Frobenius) bring all singular values of at least 0.002
// into 0.68 ... 1.21 and leave the singular vectors as they are: the quintic of "Muon", see UpdateRule.
struct NewtonSchulz {
    static constexpr int kSteps = 5;
    static constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;
    static constexpr double kEpsilon = 1e-7;  // added to the norm, against division by zero
};

// The weights of convolutions, seen as output channels by all else, and of dense layers, but for the head's: parameters
// of rank 2 or more that decay; tables (positions, embeddings) do not (layers.h).
bool takesMatrixStep(const Value& parameter);

// A run of elements within an update's slice that share a treatment.
struct UpdateSegment {
    std::size_t offset = 0, count = 0;  // elements, relative to the slice, as they are stored
    bool decays = true;
    const Value* parameter = nullptr;  // all of it, for a rule that needs whole parameters; outlives the kernel
};

// Optimizers for people, by their names in specs; the explicit list.
struct UpdateEntry {
    std::string name;
    ParamSchema params;  // without the learning rate, which a schedule gives
    UpdateRule (*make)(const ParamValues& params);
};
const std::vector<UpdateEntry>& updateRules();
const UpdateEntry* findUpdateRule(std::string_view name);

}  // namespace lockstep
