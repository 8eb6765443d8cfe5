#pragma once

namespace lockstep {

// Seven doubles in the scalars arena, written by the gate step once all reductions are done, read by every update.
struct UpdateGate {
    double scale = 0;         // multiplies every reduced gradient: clipping factor / (global weight x loss scale)
    double bufferScale = 0;   // multiplies every reduced buffer sum: 1 / global sample count
    double skip = 0;          // non-zero: something was not finite; each update of this step leaves everything alone
    double gradientNorm = 0;  // ‖mean gradient‖ before clipping
    double reserved[3] = {};
};

// What the reductions left. gradientNorm is ‖sum of gradients‖, the root of all buckets' square sums together.
struct ReducedSums {
    double lossSum = 0, weight = 0, samples = 0, gradientNorm = 0;
};

// Infinity less itself is not a number, and nothing that is not a number equals anything.
constexpr bool isFinite(double x) { return x - x == 0; }

// The step's one decision, the same on every backend: constexpr, so that nvcc compiles it for cards, too. Without
// weight there is no mean gradient, so nothing to learn from. A gate that skips holds zeros besides. lossScale: of the
// gradients (StepScalars), not of the loss sum.
constexpr UpdateGate decideGate(const ReducedSums& sums, double clipNorm, double lossScale = 1) {
    UpdateGate gate;
    const bool finite = isFinite(sums.lossSum) && isFinite(sums.weight) && isFinite(sums.gradientNorm);
    if (!finite || !(sums.weight > 0)) {
        gate.skip = 1;
        return gate;
    }
    gate.gradientNorm = sums.gradientNorm / (sums.weight * lossScale);
    const bool clips = clipNorm > 0 && gate.gradientNorm > clipNorm;
    gate.scale = (clips ? clipNorm / gate.gradientNorm : 1) / (sums.weight * lossScale);
    gate.bufferScale = sums.samples > 0 ? 1 / sums.samples : 0;
    return gate;
}

}  // namespace lockstep
