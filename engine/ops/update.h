#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/param_schema.h"
#include "engine/ops/update_gate.h"

namespace lockstep {

// How parameters follow from gradients. Works on flat arenas, one kernel per bucket, element by element; what needs the
// whole gradient (clipping, the non-finite check) is decided once per step in the gate (see UpdateGate).
struct UpdateRule {
    enum class Kind { Sgd, AdamW };
    Kind kind = Kind::Sgd;
    double momentum = 0.9;            // Sgd: v = momentum v + g;  w -= lr v      (PyTorch's form, dampening 0)
    bool nesterov = false;            // Sgd: w -= lr (g + momentum v)
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;      // AdamW: Loshchilov & Hutter, arXiv 1711.05101, algorithm 2
    double weightDecay = 0;           // Sgd: g += decay w before the momentum; AdamW: w -= lr decay w
    double clipNorm = 0;              // > 0: gradients are scaled by min(1, clipNorm / ‖g‖) over the whole mean gradient
    double averageDecay = 0;          // > 0: averages of the parameters follow each update (see averageDecayAt)

    int stateCount() const;           // tensors of optimizer state per parameter: Sgd 1 (0 without momentum), AdamW 2
    bool averages() const { return averageDecay > 0; }
    std::string_view stateName(int state) const;            // "momentum", "exp_avg", "exp_avg_sq"
    bool operator==(const UpdateRule&) const = default;
};
std::string describe(const UpdateRule& rule);

// Averages follow the update of number t (from 1): average += (1 - d) (parameter - average), d = min(decay, (1 + t) /
// (10 + t)), so that they soon forget the initial values, as TensorFlow's ExponentialMovingAverage with num_updates
// (tensorflow/python/training/moving_averages.py). `updates`: done before this one.
double averageDecayAt(double decay, std::int64_t updates);

// A run of elements within an update's slice that share a treatment.
struct UpdateSegment {
    std::size_t offset = 0, count = 0;       // elements, relative to the slice
    bool decays = true;
};

// Optimizers for people: "sgd", "adamw"; the explicit list.
struct UpdateEntry {
    std::string name;
    ParamSchema params;                                      // without the learning rate, which a schedule gives
    UpdateRule (*make)(const ParamValues& params);
};
const std::vector<UpdateEntry>& updateRules();
const UpdateEntry* findUpdateRule(std::string_view name);

}  // namespace lockstep
