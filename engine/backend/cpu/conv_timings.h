#pragma once
#include <filesystem>
#include <string>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/conv_choice.h"
#include "engine/backend/plan_cache.h"

namespace lockstep::cpu {

// Which algorithm makes a pass of a convolution fastest, timed once for each shape (of large batches a part) and number
// of threads, and kept for each kind of processor, what of it the system permits, and version of the library. Any
// thread.
class ConvTimings {
public:
    // What runs the pass. In evaluations weights stay as they are.
    struct Run {
        int threads = 1;
        AlgorithmChoice how = AlgorithmChoice::Timed;
        DType operands = DType::F32;
        bool keepsWeights = false;
    };

    // The cache's folder, which is not looked at before the first choice by timing.
    ConvTimings(std::filesystem::path folder, const std::string& processor);

    // Timing decides where the rule would have Winograd's, and where operands may be of bf16. What the rule has stays
    // unless another is clearly faster, so that a disturbed measurement seldom changes what a run computes. 1x1
    // convolutions of floats are as fast in either, but for the passes over memory around them that ours save: there
    // the rule holds. The rule of bf16 is what multiplies it: of the library where there are tiles, and where there are
    // pairs of ours, if it takes enough samples.
    ConvAlgorithm choose(const ConvPass& pass, const Run& in);

private:
    PlanCaches m_caches;
    std::string m_kind;
};

std::string describe(const ConvPass& pass, int threads);  // on one line

}  // namespace lockstep::cpu
