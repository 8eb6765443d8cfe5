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
    double loss = 0, scale = 0;  // scale: what the update multiplies gradients by; not a number: it skips
    Tensors gradients, tensors;
};
Outcome outcomeOf(Replica& replica, std::size_t which, const StoragePlan& storage);

SideBySide compare(const Outcome& one, const Outcome& many, const StoragePlan& storage);

// Whether both sides did the same; `own`: how far one device came from itself in other ways of adding and rounding. The
// storage is that of several devices.
struct Verdict {
    SideBySide judged;
    bool equal = false;
};
Verdict judge(const Outcome& one, const Outcome& many, std::span<const SideBySide> own, const StoragePlan& storage,
              const Tolerance& tolerance);

// Other weights nearby; the same for the same `times`.
void nudge(Tensors& tensors, const StoragePlan& storage, int times);

}  // namespace lockstep
