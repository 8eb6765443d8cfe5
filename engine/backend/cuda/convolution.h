#pragma once
#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/core/dtype.h"

namespace lockstep::cuda {

// One pass of a convolution. Images N,C,H,W and filters K,C/groups,R,S as extents; both lie with their channels last.
struct ConvolutionShape {
    enum class Pass : std::uint8_t { Forward, BackwardData, BackwardWeights };
    Pass pass = Pass::Forward;
    DType dtype = DType::F32;
    std::array<std::int64_t, 4> x{}, w{}, y{};
    std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
    bool tf32 = false;  // f32 operands are read rounded to tf32
    bool bias = false;  // forward alone: of K elements, added to every pixel
    bool relu = false;  // and then ReLU

    // Batch norms around it, in f16, for which cuDNN calls for channels in eights and no groups:
    bool normalised = false;    // forward and backward weights: x is read as ReLU(scale x + shift), by channel
    bool sums = false;          // forward: also the sums of y and of its squares, by channel
    bool normGradient = false;  // backward data: x was ReLU of a norm; see NormOperands
};
std::string describe(const ConvolutionShape& shape);  // on one line; what plans are kept by

// With x^ = (input - mean) invStd, y the ReLU's output and C channels, dx is masked where gamma x^ + beta is not
// positive. All but the input are f32 and of C elements, the sums of 2C: of dx x^ and of dx.
struct NormOperands {
    const void* input = nullptr;  // as x
    const float *mean = nullptr, *invStd = nullptr, *gamma = nullptr, *beta = nullptr;
    float* sums = nullptr;
    float* scratch = nullptr;  // of 3C elements
};

// On the card; of x, w and y the pass makes one from the others: y from x and w, or dx from dy and w, or dw from x and
// dy.
struct ConvolutionOperands {
    void *x = nullptr, *w = nullptr, *y = nullptr;
    const void* bias = nullptr;
    const void* factors = nullptr;  // f16: C scales, then C shifts
    float* sums = nullptr;          // K of y, then K of its squares
    NormOperands norm{};
};

// One prepared pass.
class Convolution {
public:
    virtual ~Convolution() = default;
    virtual std::size_t workspaceBytes() const = 0;
    virtual void run(const ConvolutionOperands& of, std::byte* workspace, cudaStream_t stream) = 0;
};

}  // namespace lockstep::cuda
