#pragma once
#include "engine/data/dataset.h"
#include "engine/data/partition.h"
#include "engine/model/registry.h"

namespace lockstep {

// Samples of noise with labels in turn, for whoever has no data at hand. The same ones for the same ids on every
// machine. Texts are of unequal length. A sequence whose next tokens are to be learnt begins with its number, which
// does not count as a target: what follows can be known by heart.

// A dataset of such samples, in numbers only: `count` of them.
DatasetInfo infoOf(ModelTask task, const ModelInput& input, std::int64_t count);
// The batch slot of whoever has `share` of the samples.
HostTensor madeBatch(const BatchLayout& layout, const Share& share, std::int64_t classes);

}  // namespace lockstep
