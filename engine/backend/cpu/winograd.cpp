#include <algorithm>

#include "engine/backend/cpu/conv_request.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/normed_input.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

namespace {

constexpr std::size_t kPoints = 36, kLanes = 16, kFilter = kLanes * kLanes, kTaps = 9;

std::size_t blocksOf(const Shape& image) {
    return static_cast<std::size_t>(image[1]) / kLanes;
}

// An image, in channel blocks, that is cut into the tiles of `outputs`.
struct Image : WinogradImage {
    Image(const Shape& shape, const Shape& outputs, std::array<int, 2> padding) {
        height = shape[2];
        width = shape[3];
        tileRows = (outputs[2] + 3) / 4;
        tileColumns = (outputs[3] + 3) / 4;
        top = padding[0];
        left = padding[1];
        sampleStride = static_cast<std::size_t>(shape[1] * shape[2] * shape[3]);
    }
    std::size_t blockStride() const { return static_cast<std::size_t>(height * width) * kLanes; }
};

// The points of some tiles: [point][block][tile][16]. Points lie a line more than a round number apart, or they would
// drive each other out of the cache.
struct Points {
    std::size_t blocks = 0, tiles = 0;

    std::size_t blockStride() const { return tiles * kLanes; }
    std::size_t pointStride() const { return blocks * blockStride() + kLanes; }
    std::size_t floats() const { return kPoints * pointStride(); }
};

// The points of all filters: [point][block of outputs][channel][16].
struct Filters {
    std::size_t blocks = 0, channelBlocks = 0;

    std::size_t count() const { return blocks * channelBlocks; }
    bool areMany() const { return count() >= 256; }
    std::size_t blockStride() const { return channelBlocks * kFilter; }
    std::size_t pointStride() const { return count() * kFilter; }
    std::size_t floats() const { return kPoints * pointStride(); }
};

// How tiles are shared out: each thread takes tiles of its own through all stages, a block at a time. With few channels
// the block and its products stay in the second-level cache; with many it is the filters that come from memory once per
// block.
struct Schedule {
    std::size_t tiles, block, parts;

    Schedule(std::size_t allTiles, const Filters& filters, int threads)
        : tiles(allTiles), parts(static_cast<std::size_t>(threads)) {
        constexpr std::size_t kTilesForManyFilters = 128, kFloats = 3584, kFewTiles = 32;
        const std::size_t widest = std::max(filters.blocks, filters.channelBlocks) * kLanes;
        const std::size_t most = filters.areMany() ? kTilesForManyFilters : std::max(kFewTiles, kFloats / widest);
        const std::size_t each = divideUp(tiles, parts);
        block = divideUp(each, divideUp(each, most));
    }

    // body(part, begin, count) for each block.
    template <class Body>
    void run(Body body) const {
        inParts(static_cast<int>(parts), tiles, [&](std::size_t part, std::size_t begin, std::size_t end) {
            for (std::size_t at = begin; at < end; at += block) body(part, at, std::min(block, end - at));
        });
    }

private:
    static std::size_t divideUp(std::size_t a, std::size_t b) { return (a + b - 1) / b; }
};

// Of all channel blocks of x, or of ReLU of its norm, whose affine forms lie at the front of the workspace.
void transformData(const SimdTable& simd, const Image& x, const NormedInput& norm, const KernelCall& call,
                   const Range& tiles, const Points& points, float* data) {
    const WinogradSpan span{tiles.begin, tiles.end - tiles.begin, points.pointStride()};
    for (std::size_t b = 0; b < points.blocks; ++b) {
        const auto affine = norm ? norm.affine(reinterpret_cast<const float*>(call.workspace), b) : ChannelAffine{};
        simd.winogradData(x, in(call, 0) + b * x.blockStride(), span, norm ? &affine : nullptr,
                          data + b * points.blockStride());
    }
}

// Forward; or backward-data, which is the same of dy with the filters turned.
class Winograd final : public Kernel {
public:
    Winograd(const Order& order, std::array<int, 2> padding, bool turned)
        : m_machine(order.machine),
          m_turned(turned),
          m_hasBias(order.node.op != &kConv2dFused && order.node.inputs.size() == 3),
          m_relu(order.node.op == &kConv2dRelu),
          m_norm(order),
          m_addend(addendOf(order.node)),
          m_x(order.input(0).type.shape, order.output(0).type.shape, padding),
          m_y(order.output(0).type.shape, order.output(0).type.shape, {}),
          m_filters{blocksOf(order.output(0).type.shape), blocksOf(order.input(0).type.shape)},
          m_schedule(static_cast<std::size_t>(order.input(0).type.shape[0] * m_y.tileRows * m_y.tileColumns), m_filters,
                     order.machine.threads),
          m_group(m_filters.areMany() ? m_filters.blocks : std::min(m_filters.blocks, kGroup)),
          m_data{m_filters.channelBlocks, m_schedule.block},
          m_products{m_group, m_schedule.block} {}

    std::size_t workspaceBytes() const override {
        return (m_norm.floats() + m_filters.floats() + m_schedule.parts * partFloats()) * sizeof(float);
    }

    void run(const KernelCall& call) override {
        auto* const norm = reinterpret_cast<float*>(call.workspace);
        if (m_norm) m_norm.prepare(call, norm);
        float* const filters = norm + m_norm.floats();
        transformFilters(in(call, 1), filters);
        m_schedule.run([&](std::size_t part, std::size_t begin, std::size_t count) {
            float* data = filters + m_filters.floats() + part * partFloats();
            transformData(*m_machine.simd, m_x, m_norm, call, {begin, begin + count}, m_data, data);
            for (std::size_t first = 0; first < m_filters.blocks; first += m_group)
                convolve(call, {begin, count, first}, filters, data, data + m_data.floats());
        });
    }

private:
    static constexpr std::size_t kGroup = 4;  // blocks of outputs whose products stay in the cache beside the data

    struct Part {
        std::size_t begin, count, first;  // tiles; block of outputs
    };

    std::size_t partFloats() const { return m_data.floats() + m_products.floats(); }

    void transformFilters(const float* w, float* filters) const {
        inParallel(m_machine.threads, m_filters.count(), m_filters.floats(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const std::size_t block = i / m_filters.channelBlocks, channel = i % m_filters.channelBlocks;
                const std::size_t from = m_turned ? channel * m_filters.blocks + block : i;
                m_machine.simd->winogradFilter(w + from * kTaps * kFilter, m_turned, filters + i * kFilter,
                                               m_filters.pointStride());
            }
        });
    }

    void convolve(const KernelCall& call, const Part& part, const float* filters, const float* data,
                  float* products) const {
        const std::size_t blocks = std::min(m_group, m_filters.blocks - part.first);
        BlockProduct product{.filterStride = m_filters.blockStride(),
                             .dataStride = m_data.blockStride(),
                             .productStride = m_products.blockStride(),
                             .blocks = blocks,
                             .channelBlocks = m_filters.channelBlocks,
                             .tiles = part.count};
        for (std::size_t point = 0; point < kPoints; ++point) {
            product.filters = filters + point * m_filters.pointStride() + part.first * m_filters.blockStride();
            product.data = data + point * m_data.pointStride();
            product.products = products + point * m_products.pointStride();
            m_machine.simd->blockProduct(product);
        }
        for (std::size_t b = 0; b < blocks; ++b) {
            const std::size_t block = part.first + b, at = block * m_y.blockStride();
            m_machine.simd->winogradOutput(m_y, products + b * m_products.blockStride(),
                                           {part.begin, part.count, m_products.pointStride()},
                                           {.bias = m_hasBias ? in(call, 2) + block * kLanes : nullptr,
                                            .addends = m_addend ? in(call, *m_addend) + at : nullptr,
                                            .relu = m_relu},
                                           out(call, 0) + at);
        }
    }

    const Machine& m_machine;
    bool m_turned, m_hasBias, m_relu;
    NormedInput m_norm;
    std::optional<std::size_t> m_addend;
    Image m_x, m_y;
    Filters m_filters;
    Schedule m_schedule;
    std::size_t m_group;
    Points m_data, m_products;
};

// Every part has sums of its own; they are added up in their order.
class WinogradBackwardWeights final : public Kernel {
public:
    WinogradBackwardWeights(const Order& order, std::array<int, 2> padding)
        : m_machine(order.machine),
          m_x(order.input(0).type.shape, order.input(1).type.shape, padding),
          m_dy(order.input(1).type.shape, order.input(1).type.shape, {}),
          m_filters{blocksOf(order.input(1).type.shape), blocksOf(order.input(0).type.shape)},
          m_schedule(static_cast<std::size_t>(order.input(0).type.shape[0] * m_dy.tileRows * m_dy.tileColumns),
                     m_filters, order.machine.threads),
          m_norm(order),
          m_data{m_filters.channelBlocks, m_schedule.block},
          m_gradients{m_filters.blocks, m_schedule.block} {
        if (order.node.outputs.size() == 2) m_bias = channelRuns(order.input(1));
    }

    std::size_t workspaceBytes() const override {
        return (m_norm.floats() + m_schedule.parts * partFloats()) * sizeof(float);
    }

    void run(const KernelCall& call) override {
        auto* const norm = reinterpret_cast<float*>(call.workspace);
        if (m_norm) m_norm.prepare(call, norm);
        float* const sums = norm + m_norm.floats();
        inParts(static_cast<int>(m_schedule.parts), m_schedule.parts, [&](std::size_t part, std::size_t, std::size_t) {
            std::fill_n(sums + part * partFloats(), m_filters.floats(), 0.0f);
        });
        m_schedule.run([&](std::size_t part, std::size_t begin, std::size_t count) {
            addTiles(call, begin, count, sums + part * partFloats());
        });
        inParallel(m_machine.threads, m_filters.count(), m_filters.floats(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                m_machine.simd->winogradFilterGradient(sums + i * kFilter, m_filters.pointStride(), m_schedule.parts,
                                                       partFloats(), out(call, 0) + i * kTaps * kFilter);
        });
        if (m_bias) sumChannels(m_machine, *m_bias, in(call, 1), out(call, 1));
    }

private:
    std::size_t partFloats() const { return m_filters.floats() + m_data.floats() + m_gradients.floats(); }

    void addTiles(const KernelCall& call, std::size_t begin, std::size_t count, float* filters) const {
        float *const data = filters + m_filters.floats(), *const gradients = data + m_data.floats();
        transformData(*m_machine.simd, m_x, m_norm, call, {begin, begin + count}, m_data, data);
        for (std::size_t b = 0; b < m_gradients.blocks; ++b)
            m_machine.simd->winogradGradient(m_dy, in(call, 1) + b * m_dy.blockStride(),
                                             {begin, count, m_gradients.pointStride()},
                                             gradients + b * m_gradients.blockStride());
        for (std::size_t point = 0; point < kPoints; ++point)
            m_machine.simd->blockGradientProduct({.gradients = gradients + point * m_gradients.pointStride(),
                                                  .data = data + point * m_data.pointStride(),
                                                  .filters = filters + point * m_filters.pointStride(),
                                                  .gradientStride = m_gradients.blockStride(),
                                                  .dataStride = m_data.blockStride(),
                                                  .filterStride = m_filters.blockStride(),
                                                  .blocks = m_filters.blocks,
                                                  .channelBlocks = m_filters.channelBlocks,
                                                  .tiles = count});
    }

    const Machine& m_machine;
    Image m_x, m_dy;
    Filters m_filters;
    Schedule m_schedule;
    NormedInput m_norm;
    Points m_data, m_gradients;
    std::optional<ChannelRuns> m_bias;
};

}  // namespace

std::unique_ptr<Kernel> makeWinograd(const Order& order) {
    return std::make_unique<Winograd>(order, convAttrs(order.node).padding, false);
}

std::unique_ptr<Kernel> makeWinogradBackwardData(const Order& order) {
    const auto& padding = order.node.attrs.as<Conv2dBackwardAttrs>().conv.padding;
    return std::make_unique<Winograd>(order, std::array{2 - padding[0], 2 - padding[1]}, true);
}

std::unique_ptr<Kernel> makeWinogradBackwardWeights(const Order& order) {
    return std::make_unique<WinogradBackwardWeights>(order, order.node.attrs.as<Conv2dBackwardAttrs>().conv.padding);
}

}  // namespace lockstep::cpu
