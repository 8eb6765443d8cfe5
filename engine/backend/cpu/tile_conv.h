#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "engine/backend/cpu/conv_end.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/size.h"

// What our own convolutions of tiles of bf16 share (sample_conv.cpp, gathered_conv.cpp, padded_conv.cpp): images lie
// channels last, products are of panels of 32 columns, and gradients of weights are made in squares of 32 channels and
// 32 filters.
namespace lockstep::cpu {

constexpr std::size_t kTilePanel = EndedRows::kColumns;
constexpr std::size_t kPairs = 16;  // of a row of a tile

// Along one axis, of the forward pass or back: the pixel that is read for the one that is made. Unset where there is
// none to this tap; outside the image where it is padding.
std::optional<std::int64_t> sourceOf(const Conv2dAttrs& attrs, std::size_t axis, bool isForward, std::int64_t made,
                                     std::int64_t tap);

// Strides and depth in pairs; the sums are kTilePanel columns wide.
GemmRun tileRun(const float* a, std::size_t aRowStride, const float* panel, std::size_t depth,
                const std::vector<GemmPart>& parts);

// make(products, strips, panels, part) until all strips were made for all panels, so many strips at once; part is one
// of as many as there are threads. Of few strips threads also share the panels.
template <class Make>
void overStrips(const Machine& machine, std::size_t strips, std::size_t atOnce, std::size_t panels, Make make) {
    const auto threads = static_cast<std::size_t>(machine.threads);
    const std::size_t shares = std::clamp(divideUp(2 * threads, strips), std::size_t{1}, panels);
    inParts(machine.threads, shares * strips, [&](std::size_t part, std::size_t begin, std::size_t end) {
        const RowProducts products(machine.gemmRows);
        for (std::size_t item = begin, count = 0; item < end; item += count) {
            const std::size_t first = item % strips;
            count = std::min({end - item, strips - first, atOnce});
            make(products, Range{first, first + count}, partOf(panels, item / strips, shares), part);
        }
    });
}

// From sums to pixels of the image that is made.
class TileEnd {
public:
    explicit TileEnd(const Order& order) : m_simd(*order.machine.simd), m_end(endOf(order.node)) {}

    // `rows` of sums, kMostRows at most, of filters from `column` on; at[n] is the element of the image where the pixel
    // of row n begins.
    static constexpr std::size_t kMostRows = 64;
    void write(const KernelCall& call, std::size_t column, const float* sums, std::size_t rows,
               const std::size_t* at) const;

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
