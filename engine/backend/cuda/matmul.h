#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/core/dtype.h"

namespace lockstep::cuda {

// d = op(a) op(b) [+ bias in every row] of row-major matrices of one type, added up in float.
struct MatmulShape {
    DType dtype = DType::F32;
    std::int64_t rows = 0, columns = 0, depth = 0;  // of d, and the summed extent
    bool transposeA = false, transposeB = false;    // as they lie in memory: a is depth x rows, b columns x depth
    bool bias = false;                              // of `columns` elements
    bool relu = false;                              // of what all that makes
    bool tf32 = false;                              // f32 operands are read rounded to tf32
};

// One prepared product.
class Matmul {
public:
    virtual ~Matmul() = default;
    virtual std::size_t workspaceBytes() const = 0;
    virtual void run(const void* a, const void* b, const void* bias, void* d, std::byte* workspace,
                     cudaStream_t stream) = 0;
};

}  // namespace lockstep::cuda
