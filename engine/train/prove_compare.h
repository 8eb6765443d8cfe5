#pragma once
#include <map>
#include <span>
#include <string>

#include "engine/train/prove.h"
#include "engine/train/replica.h"

namespace lockstep {

using Tensors = std::map<std::string, HostTensor>;

Tensors readAll(Replica& replica);
void writeAll(Replica& replica, const Tensors& tensors);

// What an update left on one side of a proof.
struct Outcome {
    double loss = 0, scale = 0;                  // scale: what the update multiplies gradients by; not a number: it skips
    Tensors gradients, tensors;
};
Outcome outcomeOf(Replica& replica, std::size_t which, const StoragePlan& storage);

SideBySide compare(const Outcome& one, const Outcome& many, const StoragePlan& storage);

// Both sides did the same update with the samples in one order or several: whether any of one device's outcomes is any of
// the others', within the tolerance; `judged` are the two that are nearest. The storage is that of several devices.
struct Verdict {
    SideBySide judged;
    bool equal = false;
};
Verdict judge(std::span<const Outcome> ones, std::span<const Outcome> manys, const StoragePlan& storage,
              const Tolerance& tolerance);

}  // namespace lockstep
