#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/param_schema.h"
#include "engine/graph/graph.h"
#include "engine/ops/update_gate.h"

namespace lockstep {

// How parameters follow from gradients. Works on flat arenas, one kernel per bucket, element by element or parameter by
// parameter; what needs the whole gradient (clipping, the non-finite check) is decided once per step in the gate (see
// UpdateGate).
//   Lars: You, Gitman & Ginsburg, arXiv 1708.03888, algorithm 1. The learning rate is within the momentum, times each
//     parameter's own: trust ‖w‖ / (‖g‖ + decay ‖w‖); 1 of those that do not decay, and where a norm is 0:
//     v = momentum v + lr own (g + decay w);  w -= v
//   Muon: Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024. Of a matrix (see
//     takesMatrixStep) the direction is orthogonalised, see NewtonSchulz; all others follow AdamW:
//     v = momentum v + g;  w -= lr (decay w + sqrt(max(1, rows / columns)) orthogonalised(nesterov ? g + momentum v :
//     v))
struct UpdateRule {
    enum class Kind { Sgd, AdamW, Lars, Muon };
    Kind kind = Kind::Sgd;
    double momentum = 0.9;  // Sgd: v = momentum v + g;  w -= lr v      (PyTorch's form, dampening 0)
    bool nesterov = false;  // Sgd: w -= lr (g + momentum v)
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // AdamW: Loshchilov & Hutter, arXiv 1711.05101, algorithm 2
    double trust = 0.001;                               // Lars
    double adamShare = 1;                               // Muon: AdamW's learning rate, of the schedule's
    double weightDecay = 0;                             // Sgd: g += decay w before the momentum; AdamW: w -= lr decay w
    double clipNorm = 0;      // > 0: gradients are scaled by min(1, clipNorm / ‖g‖) over the whole mean gradient
    double averageDecay = 0;  // > 0: averages of the parameters follow each update (see averageDecayAt)

    // Tensors of optimizer state per parameter: Sgd and Lars 1 (0 without momentum), AdamW 2, Muon 2: "momentum" is
    // AdamW's "exp_avg" where that takes over, and of matrices "exp_avg_sq" stays 0.
    int stateCount() const;
    bool averages() const { return averageDecay > 0; }
    bool needsWholeParameters() const { return kind == Kind::Lars || kind == Kind::Muon; }
    std::string_view stateName(int state) const;  // "momentum", "exp_avg", "exp_avg_sq"
    bool operator==(const UpdateRule&) const = default;
};
std::string describe(const UpdateRule& rule);

// Averages follow the update of number t (from 1): average += (1 - d) (parameter - average), d = min(decay, (1 + t) /
// (10 + t)), so that they soon forget the initial values, as TensorFlow's ExponentialMovingAverage with num_updates
// (tensorflow/python/training/moving_averages.py). `updates`: done before this one.
constexpr double averageDecayAt(double decay, std::int64_t updates) {
    const auto number = static_cast<double>(updates + 1), early = (1 + number) / (10 + number);
    return decay < early ? decay : early;
}

// Five steps X <- a X + b X Xt X + c X Xt X Xt X from X / ‖X‖ (Frobenius) bring all singular values of at least 0.002
// into 0.68 ... 1.21 and leave the singular vectors as they are: the quintic of "Muon", see above.
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

// Optimizers for people: "sgd", "adamw", "lars", "muon"; the explicit list.
struct UpdateEntry {
    std::string name;
    ParamSchema params;  // without the learning rate, which a schedule gives
    UpdateRule (*make)(const ParamValues& params);
};
const std::vector<UpdateEntry>& updateRules();
const UpdateEntry* findUpdateRule(std::string_view name);

}  // namespace lockstep
