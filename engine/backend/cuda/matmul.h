#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/core/dtype.h"

namespace lockstep::cuda {

// d = op(a) op(b) [+ bias in every row] [+ addend] of row-major matrices of one type, added up in float.
struct MatmulShape {
    DType dtype = DType::F32;
    std::int64_t rows = 0, columns = 0, depth = 0;  // of d, and the summed extent
    bool transposeA = false, transposeB = false;    // as they lie in memory: a is depth x rows, b columns x depth
    bool bias = false;                              // of `columns` elements
    bool addend = false;                            // as d lies
    bool relu = false;                              // of what all that makes, without an addend
    bool rowSums = false;  // also of op(a)'s rows, over the depth; no bias, addend or ReLU then
    bool tf32 = false;     // f32 operands are read rounded to tf32
};

// Null: the shape has none.
struct MatmulOperands {
    const void *a = nullptr, *b = nullptr, *bias = nullptr, *addend = nullptr;
    void* rowSums = nullptr;
};

// One prepared product.
class Matmul {
public:
    virtual ~Matmul() = default;
    virtual std::size_t workspaceBytes() const = 0;
    virtual void run(const MatmulOperands& of, void* d, std::byte* workspace, cudaStream_t stream) = 0;
};

}  // namespace lockstep::cuda
