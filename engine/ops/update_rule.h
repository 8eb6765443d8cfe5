#pragma once
#include <string_view>

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
    bool needsWholeParameters() const;
    std::string_view stateName(int state) const;  // "momentum", "exp_avg", "exp_avg_sq"
    bool operator==(const UpdateRule&) const = default;
};

}  // namespace lockstep
