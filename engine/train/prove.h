#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/train/prove_break.h"

namespace lockstep {

// How far a tensor of several devices lies from the same one of one device.
struct TensorDifference {
    std::string name;
    double value = 0;    // the largest, relative to the largest element on one device; infinite: not a number
    double allowed = 0;  // of what is judged
    bool sameBits = true;
};
const TensorDifference& worstOf(const std::vector<TensorDifference>& differences);  // by value / allowed; not empty

// What one update left on several devices, beside one device.
struct SideBySide {
    double loss = 0;                           // mean over the global batch, before the update
    bool sameLoss = true;                      // to the bit
    std::vector<TensorDifference> gradients;   // by parameter: summed over ranks, as the update scales them
    std::vector<TensorDifference> statistics;  // running statistics of batch norms
    std::vector<TensorDifference> weights;     // parameters, optimizer state and averages
    double distance = 0;                       // ‖parameters - those of one device‖ / ‖those of one device‖
    bool sameBits() const;                     // of everything above
};

// One update: judged from the weights, statistics and optimizer state that one device had before it, so that nothing
// but this update counts; and drifting, as the devices come along on their own from update to update.
struct UpdateProof {
    std::int64_t update = 0, epoch = 0, samples = 0;  // update and epoch from 1; samples of its global batch
    int tries = 1;                                    // weights from which it was judged
    double loss = 0;                                  // on one device
    SideBySide judged, drifting;
    bool equal = false;  // judged, within the tolerance
};

// Reproducible runs: everything has the same bits. Else sums of the same terms in another order: gradients and running
// statistics differ by at most `relative`, or, where terms cancel (before a batch norm, say), by kRoundings times what
// one device differs from itself by with the samples of each pass in reverse order. And the last bit may decide on
// which side of a ReLU or a maximum a value falls; so an update that differs is judged again from equal weights nearby,
// kTries times in all. There other values are at the edge, but a mistake is still a mistake. Where products are rounded
// to less than f32, algorithms are those of the rule, and which products are rounded may depend on how many samples a
// device has: then kRoundings times what one device differs from itself by in fp32 is allowed, too. Weights are not
// judged: rules that divide by the gradient's own size (Adam) make a last bit as large as the step.
struct Tolerance {
    static constexpr double kRoundings = 4;
    static constexpr int kTries = 8;
    bool bitwise = false;
    double relative = 0;          // 1e-12 of f64, 1e-5 of f32
    DType computed = DType::F32;  // what gradients are in
    Precision precision = Precision::Fp32;
    bool roundsProducts() const { return !bitwise && computed == DType::F32 && precision != Precision::Fp32; }
};

struct Proof {
    int devices = 0;
    std::string batchNorm;  // as in RunStarted, of the side with several devices
    Tolerance tolerance;
    std::vector<UpdateProof> updates;
    std::optional<Problem> cause;  // why they differ, as far as settings tell; none: they are equal

    bool equal() const { return !cause; }
    struct Worst {
        std::int64_t update = 0;
        TensorDifference tensor;
    };
    Worst worst() const;  // of what is judged
};

struct ProofRequest {
    const ResolvedSpec& resolved;
    const DatasetSplits& data;
    std::int64_t updates = 10;                         // at most as many as the run has
    std::optional<ProofBreak> how;                     // break the side with several devices
    std::function<void(const UpdateProof&)> onUpdate;  // after each; on a thread of rank 0
};

// Trains the same global batches of the spec on its first device alone and on all of them, with training's own
// programs, loaders and collectives, and compares. Throws ProblemError ("prove.one-device", "prove.no-norm", what
// planRun() and the dataset throw) and EngineError, NonFinite when one device has no finite update.
Proof prove(const ProofRequest& request);

}  // namespace lockstep
