#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/train/plan_run.h"

namespace lockstep {

// Which batches are worth a try: the largest that fits, and the one beyond which more samples at once bring little.

// The largest multiple of `unit` up to `most` that fits, 0 if none does; doubles, then bisects. What fits at one batch
// must fit at all smaller ones.
std::int64_t largestThatFits(const std::function<bool(std::int64_t batch)>& fits, std::int64_t unit, std::int64_t most);

// By plan, of the memory that is free just now; the training samples are the most. Opens no device. Throws what
// planRun() throws.
std::int64_t largestBatch(const ResolvedSpec& resolved, const DatasetInfo& train, const DatasetInfo& test);

struct BatchSpeed {
    std::int64_t batch = 0;
    double samplesPerSecond = 0;
};

constexpr double kKneeShare = 0.9;
// The smallest batch with at least kKneeShare of the best speed. `speeds`: at least one, in any order.
BatchSpeed kneeOf(const std::vector<BatchSpeed>& speeds);

// Whether the last two batches are no faster than those before by a twentieth, so that still larger ones are not worth
// their time.
bool hasFlattened(const std::vector<BatchSpeed>& speeds);

// Times training's own program for about so many seconds, at least one update, after one that warms up. Throws what
// benchmark() throws.
BatchSpeed timeBatch(ResolvedSpec resolved, const DatasetInfo& train, std::int64_t batch, double seconds);

}  // namespace lockstep
