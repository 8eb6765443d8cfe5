#pragma once
#include "engine/data/dataset.h"
#include "engine/data/partition.h"
#include "engine/model/registry.h"

namespace lockstep {

// Images of noise with labels in turn, for whoever has no data at hand. The same ones for the same ids on every machine.

// A dataset of that shape, in numbers only: `count` samples.
DatasetInfo infoOf(const ModelInput& input, std::int64_t count);
// The batch slot of whoever has `share` of the samples.
HostTensor madeBatch(const BatchLayout& layout, const Share& share, std::int64_t classes);

}  // namespace lockstep
