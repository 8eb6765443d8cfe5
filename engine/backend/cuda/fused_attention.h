#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/core/dtype.h"

namespace lockstep::cuda {

// Attention without lengths, forward or backward, as ops/attention.h defines it, in one element type.
struct AttentionShape {
    bool backward = false;
    DType dtype = DType::BF16;
    std::int64_t samples = 0, tokens = 0, heads = 0, width = 0;  // width: of a head
    bool causal = false;

    std::int64_t channels() const { return heads * width; }
};
std::string describe(const AttentionShape& shape);  // on one line; what plans are kept by

// On the card; forward: of qkv, y and logSumExp are made; backward: of all those and dy, dqkv is.
struct AttentionOperands {
    const void *qkv = nullptr, *y = nullptr, *logSumExp = nullptr, *dy = nullptr;
    void* dqkv = nullptr;
};

// One prepared pass.
class FusedAttention {
public:
    virtual ~FusedAttention() = default;
    virtual std::size_t workspaceBytes() const = 0;
    virtual void run(const AttentionOperands& of, std::byte* workspace, cudaStream_t stream) = 0;
};

}  // namespace lockstep::cuda
