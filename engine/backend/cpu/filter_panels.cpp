#include <array>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/tile_conv.h"

// Filters of floats, in blocks of 16 channels by 16 outputs, become the panels of bf16 that tiles multiply
// (onednn::Desc::productPanels), each step anew. Blocks are read as they lie, one after the other: they come from
// memory, and a processor fetches ahead what is read in order. What is written meanwhile goes to as many places as a
// window has pixels.
namespace lockstep::cpu {

namespace {

constexpr std::size_t kBlock = 16, kFilter = kBlock * kBlock, kPairsOfBlock = kBlock / 2;

class FilterPanels final : public Kernel {
public:
    FilterPanels(const Order& order, int columnAxis)
        : m_machine(order.machine),
          m_columnsAreOutputs(columnAxis == 0),
          m_outputs(blocksOf(order.input(0).type.shape[0])),
          m_channels(blocksOf(order.input(0).type.shape[1])),
          m_taps(static_cast<std::size_t>(order.input(0).type.shape[2] * order.input(0).type.shape[3])) {}

    void run(const KernelCall& call) override {
        const std::size_t blocks = m_channels * m_taps;
        inParallel(m_machine.threads, m_outputs, m_outputs * blocks * kFilter, [&](std::size_t begin, std::size_t end) {
            const float* block = in(call, 0) + begin * blocks * kFilter;
            for (std::size_t output = begin; output < end; ++output) {
                for (std::size_t channel = 0; channel < m_channels; ++channel) {
                    for (std::size_t tap = 0; tap < m_taps; ++tap, block += kFilter)
                        place(block, output, channel, tap, out(call, 0));
                }
            }
        });
    }

private:
    static std::size_t blocksOf(std::int64_t extent) { return static_cast<std::size_t>(extent) / kBlock; }

    // A block is one half of the columns of eight pairs, whose rows are its outputs or its channels.
    void place(const float* block, std::size_t output, std::size_t channel, std::size_t tap, float* panels) const {
        alignas(64) std::array<float, kFilter> rows;  // a column in each lane
        const std::size_t column = m_columnsAreOutputs ? output : channel;
        const std::size_t depth = m_columnsAreOutputs ? channel : output;
        const std::size_t depthBlocks = m_columnsAreOutputs ? m_channels : m_outputs;
        const std::size_t row = ((column / 2 * m_taps + tap) * depthBlocks + depth) * kPairsOfBlock;
        float* const to = panels + row * kTilePanel + column % 2 * kBlock;
        if (!m_columnsAreOutputs) m_machine.simd->rowsToLanes(block, kBlock, kBlock, rows.data(), kBlock, kBlock);
        m_machine.bf16->pairRows(m_columnsAreOutputs ? block : rows.data(), nullptr, rows.data(), kBlock);
        m_machine.simd->copyRows(rows.data(), kBlock, kBlock, to, kTilePanel, kPairsOfBlock);
    }

    const Machine& m_machine;
    bool m_columnsAreOutputs;
    std::size_t m_outputs, m_channels, m_taps;  // the former in blocks
};

}  // namespace

std::unique_ptr<Kernel> makeFilterPanels(const Order& order) {
    const onednn::Desc from = descOf(order.input(0)), to = descOf(order.output(0));
    const auto dims = from.dims();
    if (!order.machine.bf16 || dims.size() != 4 || from.dtype() != DType::F32 || to.dtype() != DType::BF16)
        return nullptr;
    const auto isWhole = [&](std::int64_t extent) { return extent % static_cast<std::int64_t>(kTilePanel) == 0; };
    if (!isWhole(dims[0]) || !isWhole(dims[1]) || from != onednn::Desc::blockedFilters(dims, 16, DType::F32))
        return nullptr;
    for (const int columnAxis : {0, 1}) {
        if (to == onednn::Desc::productPanels(dims, columnAxis))
            return std::make_unique<FilterPanels>(order, columnAxis);
    }
    return nullptr;
}

}  // namespace lockstep::cpu
