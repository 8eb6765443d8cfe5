#pragma once
#include <cstdint>
#include <memory>

#include "engine/data/dataset.h"

namespace lockstep {

// What training does without, so that something can be chosen by it: `share` of the training samples, rounded, at least
// one and never all. Which ones depends on the number of samples, the share and `seed` alone, so that all trials that
// are compared leave out the same. What is left is normalised by its own mean and deviation, and so is the rest.
struct HeldOut {
    std::shared_ptr<const Dataset> train, validation;
};
std::int64_t heldOutCount(std::int64_t trainCount, double share);  // of at least two samples
HeldOut holdOut(std::shared_ptr<const Dataset> train, double share, std::uint64_t seed);

}  // namespace lockstep
