#pragma once
#include <cstddef>

#include "engine/backend/cpu/kernels.h"

namespace lockstep::cpu {

// x of a convolution whose node takes it before a batch norm and its ReLU (fused_ops.h): the norm is applied again by
// whoever reads x, so that its output need not exist.
class NormedInput {
public:
    explicit NormedInput(const Order& order);
    explicit operator bool() const { return m_blocks > 0; }

    // The channels' affine forms, to be made before anything is read; `room` has floats() and stays with the caller.
    // Each is of 16 channels, however x lies.
    std::size_t floats() const { return m_blocks * 3 * 16; }
    void prepare(const KernelCall& call, float* room) const;
    ChannelAffine affine(const float* room, std::size_t block) const;

    // All of `pixels` pixels, from x, whose blocks of 8 or 16 channels are `stride` floats apart, to y without gaps.
    void apply(const float* room, const float* x, std::size_t block, std::size_t stride, std::size_t pixels,
               float* y) const;

private:
    const SimdTable& m_simd;
    std::size_t m_blocks = 0;  // 0: there is no norm
};

}  // namespace lockstep::cpu
