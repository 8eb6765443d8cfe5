#pragma once
#include <cstdint>

#include "engine/data/dataset.h"
#include "engine/train/plan_run.h"

namespace lockstep {

// How fast batches of a trial's training samples are made, for one device whose rank takes them at once; by a thread
// for each core where the trial does not say how many.
struct LoaderBench {
    int threads = 0;
    std::int64_t samples = 0;
    double seconds = 0;
    // Of all threads together, in seconds: see LoadPart. Rest: samples that lie in memory are copied, batches are
    // handed over.
    double read = 0, decode = 0, scale = 0, augment = 0, rest = 0;
    std::int64_t bytesRead = 0, bytesMade = 0;  // of files; of batches
    std::int64_t unreadable = 0;                // different samples, with on_bad_sample=skip

    double samplesPerSecond() const { return seconds > 0 ? static_cast<double>(samples) / seconds : 0; }
};

// Takes batches for about `seconds`, an epoch at least where that is shorter. Throws what reading throws.
LoaderBench benchmarkLoader(const ResolvedSpec& resolved, const DatasetSplits& data, double seconds);

}  // namespace lockstep
