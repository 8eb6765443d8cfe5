#pragma once
#include "engine/backend/cuda/convolution.h"
#include "engine/backend/cuda/fused_attention.h"
#include "engine/backend/cuda/matmul.h"
#include "engine/backend/plan_cache.h"

namespace lockstep::cuda {

// What NVIDIA's libraries do for one device, on whose thread it is used; plain loops where tests stand in for them.
class Libraries {
public:
    virtual ~Libraries() = default;
    // Throws EngineError(Device) where there is no algorithm for it; null where there is one, but without row sums.
    virtual std::unique_ptr<Matmul> matmul(const MatmulShape& shape, const std::string& where) = 0;
    // Null where there is none: own kernels do it. By rule, the library's first plan; else the fastest.
    virtual std::unique_ptr<Convolution> convolution(const ConvolutionShape& shape, const std::string& where,
                                                     bool byRule) = 0;
    virtual std::unique_ptr<FusedAttention> attention(const AttentionShape& shape, const std::string& where,
                                                      bool byRule) = 0;
};
// `plans` outlive it.
std::unique_ptr<Libraries> openLibraries(const std::string& device, PlanCaches& plans);

}  // namespace lockstep::cuda
