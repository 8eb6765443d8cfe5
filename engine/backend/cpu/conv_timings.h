#pragma once
#include <filesystem>
#include <string>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/conv_choice.h"
#include "engine/backend/plan_cache.h"

namespace lockstep::cpu {

// Whether Winograd's algorithm makes a pass of a convolution faster than the library's direct one, timed once for each
// shape (of large batches a part) and number of threads, and kept for each kind of processor and version of the
// library. Any thread.
class ConvTimings {
public:
    // The cache's folder, which is not looked at before the first choice by timing.
    ConvTimings(std::filesystem::path folder, const std::string& processor);

    // Timing decides where the rule would have Winograd's, which stays unless the other is clearly faster, so that a
    // disturbed measurement seldom changes what a run computes. 1x1 convolutions are as fast in either, but for the
    // passes over memory around them that ours save: there the rule holds.
    ConvAlgorithm choose(const ConvPass& pass, int threads, AlgorithmChoice how);

private:
    PlanCaches m_caches;
    std::string m_kind;
};

std::string describe(const ConvPass& pass, int threads);  // on one line

}  // namespace lockstep::cpu
