#pragma once
#include <cmath>
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

    int stateCount() const;           // tensors of optimizer state per parameter: Sgd 1 (0 without momentum), AdamW 2
    std::string_view stateName(int state) const;            // "momentum", "exp_avg", "exp_avg_sq"
    bool operator==(const UpdateRule&) const = default;
};
std::string describe(const UpdateRule& rule);

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
