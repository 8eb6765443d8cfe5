#pragma once
#include <vector>

#include "engine/backend/cpu/conv_end.h"
#include "engine/backend/cpu/kernels.h"

// What our own convolutions of tiles of bf16 share (sample_conv.cpp, gathered_conv.cpp): images lie channels last,
// products are of panels of 32 columns, and gradients of weights are made in squares of 32 channels and 32 filters.
namespace lockstep::cpu {

constexpr std::size_t kTilePanel = 32;

// Strides and depth in pairs; the sums are kTilePanel columns wide.
GemmRun tileRun(const float* a, std::size_t aRowStride, const float* panel, std::size_t depth,
                const std::vector<GemmPart>& parts);

// From sums to pixels of the image that is made.
class TileEnd {
public:
    explicit TileEnd(const Order& order) : m_simd(*order.machine.simd), m_end(endOf(order.node)) {}

    // Rows of sums of filters from `column` on; at(n) is the element of the image where the pixel of row n begins.
    template <class At>
    void write(const KernelCall& call, std::size_t column, float* sums, std::size_t rows, At at) const {
        for (std::size_t n = 0; n < rows; ++n) {
            float* const row = sums + n * kTilePanel;
            if (m_end.scale) m_simd.floats.multiply(row, in(call, *m_end.scale) + column, row, kTilePanel);
            if (m_end.bias) m_simd.floats.addRow(row, in(call, *m_end.bias) + column, kTilePanel);
            if (m_end.addend) m_simd.halves.addRow(row, in<Bf16>(call, *m_end.addend) + at(n) + column, kTilePanel);
        }
        if (m_end.clamp == Clamp::Relu) m_simd.floats.relu(sums, sums, rows * kTilePanel);
        if (m_end.clamp == Clamp::Relu6) m_simd.floats.relu6(sums, sums, rows * kTilePanel);
        Bf16* const y = out<Bf16>(call, 0) + column;
        for (std::size_t n = 0; n < rows; ++n) m_simd.halves.scale(sums + n * kTilePanel, 1, y + at(n), kTilePanel);
    }

private:
    const SimdTable& m_simd;
    ConvEnd m_end;
};

// Where a square of sums goes in the gradient of weights, which lies in blocks of 16 channels and 16 filters.
struct FilterSquare {
    std::size_t row = 0, panel = 0, tap = 0;  // of so many squares of channels, of filters, of pixels of the window
    std::size_t channels = 0, taps = 0;       // of the weights
};
void placeFilters(const FilterSquare& square, const SimdTable& simd, const float* sums, bool adds, float* dw);

}  // namespace lockstep::cpu
