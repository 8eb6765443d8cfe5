#include "engine/backend/cpu/winograd.h"

#include "engine/backend/cpu/conv_request.h"
#include "engine/backend/cpu/fused_ops.h"

namespace lockstep::cpu {

namespace winograd {

namespace {

// How tiles are shared out: each thread takes tiles of its own through all stages, a block at a time, which stays in
// the second-level cache with its products.
struct Schedule {
    std::size_t tiles, block, parts;

    Schedule(const Shapes& shapes, int threads)
        : tiles(shapes.tiles()), parts(std::min(tiles, static_cast<std::size_t>(threads))) {
        constexpr std::size_t kFloats = 3584, kFewTiles = 32;
        const std::size_t widest = std::max(shapes.inputBlocks(), shapes.outputBlocks()) * kLanes;
        const std::size_t each = divideUp(tiles, parts);
        block = divideUp(each, divideUp(each, std::max(kFewTiles, kFloats / widest)));
    }

    // body(part, tiles, isFirst) for each block; no part is without a first one.
    template <class Body>
    void run(Body body) const {
        inParts(static_cast<int>(parts), tiles, [&](std::size_t part, std::size_t begin, std::size_t end) {
            for (std::size_t at = begin; at < end; at += block)
                body(part, Range{at, std::min(at + block, end)}, at == begin);
        });
    }
};

// Forward; or backward-data, which is the same of dy with the filters turned.
class Winograd final : public Kernel {
public:
    Winograd(const Order& order, const Shapes& shapes, bool turned)
        : m_machine(order.machine),
          m_turned(turned),
          m_weights(shapes.weights(turned)),
          m_x(order, shapes),
          m_y(order, shapes),
          m_schedule(shapes, order.machine.threads),
          m_filters{shapes.points(), shapes.outputBlocks(), shapes.inputBlocks()},
          m_data{shapes.points(), shapes.inputBlocks(), m_schedule.block},
          m_products{shapes.points(), std::min(shapes.outputBlocks(), kGroup), m_schedule.block} {}

    std::size_t workspaceBytes() const override {
        return (m_x.norm().floats() + m_filters.floats() + m_schedule.parts * partFloats()) * sizeof(float);
    }

    void run(const KernelCall& call) override {
        auto* const norm = reinterpret_cast<float*>(call.workspace);
        if (m_x.norm()) m_x.norm().prepare(call, norm);
        float* const filters = norm + m_x.norm().floats();
        transformFilters(in(call, 1), filters);
        m_schedule.run([&](std::size_t part, const Range& tiles, bool) {
            float* data = filters + m_filters.floats() + part * partFloats();
            m_x.transform(call, {0, m_data.blocks}, tiles, m_data, data);
            for (std::size_t first = 0; first < m_filters.blocks; first += kGroup)
                convolve(call, {first, std::min(first + kGroup, m_filters.blocks)}, tiles, filters, data);
        });
    }

private:
    static constexpr std::size_t kGroup = 4;  // blocks of outputs whose products stay in the cache beside the data

    std::size_t partFloats() const { return m_data.floats() + m_products.floats(); }

    void transformFilters(const float* w, float* filters) const {
        const std::size_t count = m_filters.blocks * m_filters.channelBlocks;
        inParallel(m_machine.threads, count, m_filters.floats(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const std::size_t block = i / m_filters.channelBlocks, channel = i % m_filters.channelBlocks;
                const std::size_t from = m_turned ? m_weights.at(channel, block) : m_weights.at(block, channel);
                m_machine.simd->winogradFilter(m_x.image().form, m_weights.form(), w + from, m_turned,
                                               filters + i * kFilter, m_filters.pointStride());
            }
        });
    }

    void convolve(const KernelCall& call, const Range& blocks, const Range& tiles, const float* filters,
                  float* data) const {
        float* const products = data + m_data.floats();
        BlockProduct product{.filterStride = m_filters.blockStride(),
                             .dataStride = m_data.blockStride(),
                             .productStride = m_products.blockStride(),
                             .blocks = blocks.end - blocks.begin,
                             .channelBlocks = m_filters.channelBlocks,
                             .tiles = tiles.end - tiles.begin};
        for (std::size_t point = 0; point < m_filters.points; ++point) {
            product.filters = filters + point * m_filters.pointStride() + blocks.begin * m_filters.blockStride();
            product.data = data + point * m_data.pointStride();
            product.products = products + point * m_products.pointStride();
            m_machine.simd->blockProduct(product);
        }
        m_y.write(call, blocks, tiles, m_products, products);
    }

    const Machine& m_machine;
    bool m_turned;
    Weights m_weights;
    Inputs m_x;
    Outputs m_y;
    Schedule m_schedule;
    Filters m_filters;
    Points m_data, m_products;
};

// Every part has sums of its own; they are added up in their order.
class WinogradBackwardWeights final : public Kernel {
public:
    WinogradBackwardWeights(const Order& order, const Shapes& shapes)
        : m_machine(order.machine),
          m_x(order, shapes),
          m_dy(order, shapes),
          m_schedule(shapes, order.machine.threads),
          m_weights(shapes.weights(false)),
          m_filters{shapes.points(), shapes.outputBlocks(), shapes.inputBlocks()},
          m_data{shapes.points(), shapes.inputBlocks(), m_schedule.block},
          m_gradients{shapes.points(), shapes.outputBlocks(), m_schedule.block} {}

    std::size_t workspaceBytes() const override {
        return (m_x.norm().floats() + m_schedule.parts * partFloats()) * sizeof(float);
    }

    void run(const KernelCall& call) override {
        auto* const norm = reinterpret_cast<float*>(call.workspace);
        if (m_x.norm()) m_x.norm().prepare(call, norm);
        float* const sums = norm + m_x.norm().floats();
        m_schedule.run([&](std::size_t part, const Range& tiles, bool isFirst) {
            sumTiles(call, tiles, isFirst, sums + part * partFloats());
        });
        const std::size_t count = m_filters.blocks * m_filters.channelBlocks;
        inParallel(m_machine.threads, count, m_filters.floats(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                m_machine.simd->winogradFilterGradient(
                    m_x.image().form, m_weights.form(),
                    {sums + i * kFilter, m_filters.pointStride(), m_schedule.parts, partFloats()}, false,
                    out(call, 0) + m_weights.at(i / m_filters.channelBlocks, i % m_filters.channelBlocks));
        });
    }

private:
    std::size_t partFloats() const { return m_filters.floats() + m_data.floats() + m_gradients.floats(); }

    void sumTiles(const KernelCall& call, const Range& tiles, bool isFirst, float* filters) const {
        float *const data = filters + m_filters.floats(), *const gradients = data + m_data.floats();
        m_x.transform(call, {0, m_data.blocks}, tiles, m_data, data);
        m_dy.transform(call, {0, m_gradients.blocks}, tiles, m_gradients, gradients);
        for (std::size_t point = 0; point < m_filters.points; ++point)
            m_machine.simd->blockGradientProduct({.gradients = gradients + point * m_gradients.pointStride(),
                                                  .data = data + point * m_data.pointStride(),
                                                  .filters = filters + point * m_filters.pointStride(),
                                                  .gradientStride = m_gradients.blockStride(),
                                                  .dataStride = m_data.blockStride(),
                                                  .filterStride = m_filters.blockStride(),
                                                  .blocks = m_filters.blocks,
                                                  .channelBlocks = m_filters.channelBlocks,
                                                  .tiles = tiles.end - tiles.begin,
                                                  .adds = !isFirst});
    }

    const Machine& m_machine;
    Inputs m_x;
    Gradients m_dy;
    Schedule m_schedule;
    Weights m_weights;
    Filters m_filters;
    Points m_data, m_gradients;
};

int blockOf(const Order& order) { return descOf(order.input(0)).channelBlock(); }

std::unique_ptr<Kernel> makeForward(const Order& order, std::array<int, 2> padding, bool turned) {
    const Shapes shapes{order.input(0).type.shape, order.output(0).type.shape, padding, blockOf(order)};
    if (areMany(shapes)) return makeStreamed(order, shapes, turned);
    return std::make_unique<Winograd>(order, shapes, turned);
}

}  // namespace

}  // namespace winograd

std::unique_ptr<Kernel> makeWinograd(const Order& order) {
    return winograd::makeForward(order, convAttrs(order.node).padding, false);
}

std::unique_ptr<Kernel> makeWinogradBackwardData(const Order& order) {
    const auto& padding = order.node.attrs.as<Conv2dBackwardAttrs>().conv.padding;
    return winograd::makeForward(order, {2 - padding[0], 2 - padding[1]}, true);
}

std::unique_ptr<Kernel> makeWinogradBackwardWeights(const Order& order) {
    const winograd::Shapes shapes{order.input(0).type.shape, order.input(1).type.shape,
                                  order.node.attrs.as<Conv2dBackwardAttrs>().conv.padding, winograd::blockOf(order)};
    if (winograd::areMany(shapes)) return winograd::makeStreamedBackwardWeights(order, shapes);
    return std::make_unique<winograd::WinogradBackwardWeights>(order, shapes);
}

}  // namespace lockstep::cpu
