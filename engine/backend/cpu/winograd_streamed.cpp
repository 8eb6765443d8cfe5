#include "engine/backend/cpu/winograd.h"

// Many filters, few tiles: the points of a round of tiles are made once; then the filters go by, a few blocks of
// outputs and channels at a time, whose points are made in the second-level cache and never written to memory.
namespace lockstep::cpu::winograd {

namespace {

constexpr std::size_t kGroup = 2;  // blocks of outputs: the product's tile has as many

// Channel blocks whose filters' points fill about half of the second-level cache.
std::size_t channelsAtOnce(const Shapes& shapes) {
    constexpr std::size_t kFloats = 160 * 1024;
    return std::min(shapes.inputBlocks(), std::max<std::size_t>(1, kFloats / (shapes.points() * kGroup * kFilter)));
}

// As many tiles as leave their points in the last-level cache, in rounds of about one size.
std::size_t tilesAtOnce(const Shapes& shapes, std::size_t blocksPerTile) {
    constexpr std::size_t kFloats = 2560 * 1024, kFewest = 64;
    const std::size_t most = std::max(kFewest, kFloats / (shapes.points() * blocksPerTile * kLanes));
    return divideUp(shapes.tiles(), divideUp(shapes.tiles(), most));
}

// body(tiles) for each round.
template <class Body>
void inRounds(std::size_t tiles, std::size_t most, Body body) {
    for (std::size_t at = 0; at < tiles; at += most) body(Range{at, std::min(at + most, tiles)});
}

// Forward; or backward-data, which is the same of dy with the filters turned.
class Streamed final : public Kernel {
public:
    Streamed(const Order& order, const Shapes& shapes, bool turned)
        : m_machine(order.machine),
          m_shapes(shapes),
          m_turned(turned),
          m_x(order, shapes),
          m_y(order, shapes),
          m_tiles(tilesAtOnce(shapes, shapes.inputBlocks())),
          m_data{shapes.points(), shapes.inputBlocks(), m_tiles},
          m_products{shapes.points(), kGroup, m_tiles},
          m_filters{shapes.points(), kGroup, channelsAtOnce(shapes)} {}

    std::size_t workspaceBytes() const override {
        return (m_x.norm().floats() + m_data.floats() + parts() * partFloats()) * sizeof(float);
    }

    void run(const KernelCall& call) override {
        auto* const norm = reinterpret_cast<float*>(call.workspace);
        if (m_x.norm()) m_x.norm().prepare(call, norm);
        float* const data = norm + m_x.norm().floats();
        const std::size_t groups = divideUp(m_shapes.outputBlocks(), kGroup);
        inRounds(m_shapes.tiles(), m_tiles, [&](const Range& tiles) {
            inParallel(m_machine.threads, m_data.blocks, m_data.floats(), [&](std::size_t begin, std::size_t end) {
                m_x.transform(call, {begin, end}, tiles, m_data, data);
            });
            inParts(static_cast<int>(parts()), groups, [&](std::size_t part, std::size_t begin, std::size_t end) {
                float* const products = data + m_data.floats() + part * partFloats();
                for (std::size_t group = begin; group < end; ++group) {
                    const std::size_t first = group * kGroup;
                    const Range blocks{first, std::min(first + kGroup, m_shapes.outputBlocks())};
                    convolve(in(call, 1), blocks, tiles, data, products);
                    m_y.write(call, blocks, tiles, m_products, products);
                }
            });
        });
    }

private:
    std::size_t parts() const { return static_cast<std::size_t>(m_machine.threads); }
    std::size_t partFloats() const { return m_products.floats() + m_filters.floats(); }

    void transformFilters(const float* w, const Range& blocks, const Range& channels, float* filters) const {
        const Weights weights = m_shapes.weights(m_turned);
        for (std::size_t b = blocks.begin; b < blocks.end; ++b) {
            for (std::size_t c = channels.begin; c < channels.end; ++c) {
                const std::size_t from = m_turned ? weights.at(c, b) : weights.at(b, c);
                float* to = filters + (b - blocks.begin) * m_filters.blockStride() + (c - channels.begin) * kFilter;
                m_machine.simd->winogradFilter(m_x.image().form, weights.form(), w + from, m_turned, to,
                                               m_filters.pointStride());
            }
        }
    }

    void convolve(const float* w, const Range& blocks, const Range& tiles, const float* data, float* products) const {
        float* const filters = products + m_products.floats();
        BlockProduct product{.filterStride = m_filters.blockStride(),
                             .dataStride = m_data.blockStride(),
                             .productStride = m_products.blockStride(),
                             .blocks = blocks.end - blocks.begin,
                             .tiles = tiles.end - tiles.begin};
        for (std::size_t channel = 0; channel < m_shapes.inputBlocks(); channel += m_filters.channelBlocks) {
            const Range channels{channel, std::min(channel + m_filters.channelBlocks, m_shapes.inputBlocks())};
            transformFilters(w, blocks, channels, filters);
            product.channelBlocks = channels.end - channels.begin;
            product.adds = channel > 0;
            for (std::size_t point = 0; point < m_filters.points; ++point) {
                product.filters = filters + point * m_filters.pointStride();
                product.data = data + point * m_data.pointStride() + channel * m_data.blockStride();
                product.products = products + point * m_products.pointStride();
                m_machine.simd->blockProduct(product);
            }
        }
    }

    const Machine& m_machine;
    Shapes m_shapes;
    bool m_turned;
    Inputs m_x;
    Outputs m_y;
    std::size_t m_tiles;
    Points m_data, m_products;
    Filters m_filters;
};

class StreamedBackwardWeights final : public Kernel {
public:
    StreamedBackwardWeights(const Order& order, const Shapes& shapes)
        : m_machine(order.machine),
          m_shapes(shapes),
          m_x(order, shapes),
          m_dy(order, shapes),
          m_tiles(tilesAtOnce(shapes, shapes.inputBlocks() + shapes.outputBlocks())),
          m_data{shapes.points(), shapes.inputBlocks(), m_tiles},
          m_gradients{shapes.points(), shapes.outputBlocks(), m_tiles},
          m_filters{shapes.points(), kGroup, channelsAtOnce(shapes)} {}

    std::size_t workspaceBytes() const override {
        return (m_x.norm().floats() + m_data.floats() + m_gradients.floats() + parts() * m_filters.floats()) *
               sizeof(float);
    }

    void run(const KernelCall& call) override {
        auto* const norm = reinterpret_cast<float*>(call.workspace);
        if (m_x.norm()) m_x.norm().prepare(call, norm);
        float *const data = norm + m_x.norm().floats(), *const gradients = data + m_data.floats();
        const std::size_t groups = divideUp(m_shapes.outputBlocks(), kGroup);
        inRounds(m_shapes.tiles(), m_tiles, [&](const Range& tiles) {
            transform(call, tiles, data, gradients);
            inParts(static_cast<int>(parts()), groups, [&](std::size_t part, std::size_t begin, std::size_t end) {
                float* const filters = gradients + m_gradients.floats() + part * m_filters.floats();
                for (std::size_t group = begin; group < end; ++group) {
                    const std::size_t first = group * kGroup;
                    const Range blocks{first, std::min(first + kGroup, m_shapes.outputBlocks())};
                    sumTiles(blocks, tiles, data, gradients, filters, out(call, 0));
                }
            });
        });
    }

private:
    std::size_t parts() const { return static_cast<std::size_t>(m_machine.threads); }

    void transform(const KernelCall& call, const Range& tiles, float* data, float* gradients) const {
        inParallel(m_machine.threads, m_data.blocks, m_data.floats(), [&](std::size_t begin, std::size_t end) {
            m_x.transform(call, {begin, end}, tiles, m_data, data);
        });
        inParallel(m_machine.threads, m_gradients.blocks, m_gradients.floats(),
                   [&](std::size_t begin, std::size_t end) {
                       m_dy.transform(call, {begin, end}, tiles, m_gradients, gradients);
                   });
    }

    // The filters' gradients from one round of tiles; those of the first are not added to anything.
    void sumTiles(const Range& blocks, const Range& tiles, const float* data, const float* gradients, float* filters,
                  float* dw) const {
        const Weights weights = m_shapes.weights(false);
        BlockGradientProduct product{.gradientStride = m_gradients.blockStride(),
                                     .dataStride = m_data.blockStride(),
                                     .filterStride = m_filters.blockStride(),
                                     .blocks = blocks.end - blocks.begin,
                                     .tiles = tiles.end - tiles.begin};
        for (std::size_t channel = 0; channel < m_shapes.inputBlocks(); channel += m_filters.channelBlocks) {
            product.channelBlocks = std::min(m_filters.channelBlocks, m_shapes.inputBlocks() - channel);
            for (std::size_t point = 0; point < m_filters.points; ++point) {
                product.gradients =
                    gradients + point * m_gradients.pointStride() + blocks.begin * m_gradients.blockStride();
                product.data = data + point * m_data.pointStride() + channel * m_data.blockStride();
                product.filters = filters + point * m_filters.pointStride();
                m_machine.simd->blockGradientProduct(product);
            }
            for (std::size_t b = 0; b < product.blocks; ++b) {
                for (std::size_t c = 0; c < product.channelBlocks; ++c) {
                    m_machine.simd->winogradFilterGradient(
                        m_x.image().form, weights.form(),
                        {filters + b * m_filters.blockStride() + c * kFilter, m_filters.pointStride()}, tiles.begin > 0,
                        dw + weights.at(blocks.begin + b, channel + c));
                }
            }
        }
    }

    const Machine& m_machine;
    Shapes m_shapes;
    Inputs m_x;
    Gradients m_dy;
    std::size_t m_tiles;
    Points m_data, m_gradients;
    Filters m_filters;
};

}  // namespace

std::unique_ptr<Kernel> makeStreamed(const Order& order, const Shapes& shapes, bool turned) {
    return std::make_unique<Streamed>(order, shapes, turned);
}

std::unique_ptr<Kernel> makeStreamedBackwardWeights(const Order& order, const Shapes& shapes) {
    return std::make_unique<StreamedBackwardWeights>(order, shapes);
}

}  // namespace lockstep::cpu::winograd
