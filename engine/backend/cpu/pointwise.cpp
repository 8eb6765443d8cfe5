#include <algorithm>

#include "engine/backend/cpu/conv_choice.h"
#include "engine/backend/cpu/conv_end.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/normed_input.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/size.h"

namespace lockstep::cpu {

namespace {

constexpr std::size_t kPixels = 112;

// An image in blocks of 16 or 8 channels, whose pixels are gone through in chunks.
struct Plane {
    std::size_t block, samples, blocks, pixels;

    explicit Plane(const Value& image)
        : block(size(descOf(image).channelBlock())),
          samples(size(image.type.shape[0])),
          blocks(size(image.type.shape[1]) / block),
          pixels(size(image.type.shape[2] * image.type.shape[3])) {}
    std::size_t blockStride() const { return pixels * block; }
    std::size_t at(std::size_t sample, std::size_t pixel) const {
        return sample * blocks * blockStride() + pixel * block;
    }
    std::size_t filterFloats() const { return block * block; }  // of a block of outputs and one of channels
    std::size_t chunkFloats() const { return blocks * kPixels * block; }
    std::size_t chunksPerSample() const { return (pixels + kPixels - 1) / kPixels; }
    std::size_t chunks() const { return samples * chunksPerSample(); }
};

struct Chunk {
    std::size_t sample, begin, count;  // pixels

    Chunk(const Plane& plane, std::size_t i) : sample(i / plane.chunksPerSample()) {
        const Range range = partOf(plane.pixels, i % plane.chunksPerSample(), plane.chunksPerSample());
        begin = range.begin;
        count = range.end - range.begin;
    }
};

// body(block, its norm or null)
template <class Body>
void eachBlock(const NormedInput& norm, const float* forms, std::size_t blocks, Body body) {
    for (std::size_t b = 0; b < blocks; ++b) {
        const ChannelAffine form = norm ? norm.affine(forms, b) : ChannelAffine{};
        body(b, norm ? &form : nullptr);
    }
}

// The instructions for pairs of bf16 of a node that names them, or null.
const Bf16Table* pairsOf(const Order& order) {
    return order.node.algorithm == kPointwiseBf16 ? order.machine.bf16 : nullptr;
}

// Forward; or backward-data, which is the same of dy with every block of filters transposed.
class Pointwise final : public Kernel {
public:
    Pointwise(const Order& order, bool turned)
        : m_machine(order.machine),
          m_pairs(pairsOf(order)),
          m_turned(turned),
          m_x(order.input(0)),
          m_y(order.output(0)),
          m_norm(order),
          m_end(endOf(order.node)),
          m_readsHalves(order.input(0).type.dtype == DType::BF16),
          m_makesHalves(order.output(0).type.dtype == DType::BF16),
          m_hasPairedFilters(order.input(1).type.dtype == DType::BF16) {}

    std::size_t workspaceBytes() const override {
        const std::size_t chunks = static_cast<std::size_t>(m_machine.threads) * chunkFloats();
        return (m_norm.floats() + madeFilterFloats() + chunks) * sizeof(float);
    }

    void run(const KernelCall& call) override {
        auto* const norm = reinterpret_cast<float*>(call.workspace);
        if (m_norm) m_norm.prepare(call, norm);
        float* const made = norm + m_norm.floats();
        const float* filters = in(call, 1);
        if (m_turned) {
            turnFilters(filters, made);
            filters = made;
        }
        if (m_pairs && !m_hasPairedFilters) {
            m_pairs->pairRows(filters, nullptr, made, m_x.blocks * m_y.blocks * m_x.block);
            filters = made;
        }
        float* const room = made + madeFilterFloats();
        inParts(m_machine.threads, m_x.chunks(), [&](std::size_t part, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) multiply(call, norm, filters, i, room + part * chunkFloats());
        });
    }

private:
    std::size_t filterFloats() const { return m_x.blocks * m_y.blocks * m_x.filterFloats(); }
    std::size_t madeFilterFloats() const { return m_turned || (m_pairs && !m_hasPairedFilters) ? filterFloats() : 0; }
    bool readsPairs() const { return m_readsHalves && !m_norm; }  // as they lie
    std::size_t chunkFloats() const {
        if (m_pairs) return readsPairs() ? 0 : m_x.chunkFloats() / 2;
        return m_norm ? m_x.chunkFloats() : 0;
    }

    void turnFilters(const float* w, float* turned) const {
        const std::size_t side = m_x.block, each = m_x.filterFloats();
        alignas(64) float lanes[16 * 16];
        for (std::size_t k = 0; k < m_x.blocks; ++k) {
            for (std::size_t c = 0; c < m_y.blocks; ++c) {
                m_machine.simd->rowsToLanes(w + (k * m_y.blocks + c) * each, side, side, lanes, 16, side);
                m_machine.simd->copyRows(lanes, 16, side, turned + (c * m_x.blocks + k) * each, side, side);
            }
        }
    }

    void multiply(const KernelCall& call, const float* norms, const float* filters, std::size_t i, float* room) const {
        const Chunk chunk(m_x, i);
        const Data data = dataOf(call, norms, chunk, room);
        if (m_makesHalves) make(call, chunk, filters, data, m_pairs->blockProductHalves);
        else make(call, chunk, filters, data, m_pairs ? m_pairs->blockProduct : m_machine.simd->blockProduct);
    }

    // A chunk of x as it is multiplied; a block is `stride` floats from the next.
    struct Data {
        const float* first;
        std::size_t stride;
    };

    // As it lies, or made in `room`.
    Data dataOf(const KernelCall& call, const float* norms, const Chunk& chunk, float* room) const {
        const std::size_t from = m_x.at(chunk.sample, chunk.begin), apart = m_x.blockStride();
        if (readsPairs()) return {reinterpret_cast<const float*>(in<Bf16>(call, 0) + from), apart / 2};
        if (m_pairs) {
            const std::size_t paired = chunk.count * m_x.block / 2;
            eachBlock(m_norm, norms, m_x.blocks, [&](std::size_t b, const ChannelAffine* norm) {
                const std::size_t at = from + b * apart;
                float* const to = room + b * paired;
                if (m_readsHalves) m_pairs->pairColumnsOfHalves(in<Bf16>(call, 0) + at, norm, to, chunk.count);
                else m_pairs->pairColumns(in(call, 0) + at, norm, to, chunk.count);
            });
            return {room, paired};
        }
        const float* const x = in(call, 0) + from;
        if (!m_norm) return {x, apart};
        m_norm.apply(norms, x, m_x.block, apart, chunk.count, room);
        return {room, chunk.count * m_x.block};
    }

    template <class T>
    void make(const KernelCall& call, const Chunk& chunk, const float* filters, const Data& data,
              void (*product)(const BlockProductOf<T>&)) const {
        const std::size_t at = m_y.at(chunk.sample, chunk.begin);
        const SumEndOf<T> end = sumEnd<T>(call, m_end, 0, at);
        product({.filters = filters,
                 .data = data.first,
                 .products = out<T>(call, 0) + at,
                 .filterStride = m_x.blocks * m_x.filterFloats() / (m_pairs ? 2 : 1),
                 .dataStride = data.stride,
                 .productStride = m_y.blockStride(),
                 .blocks = m_y.blocks,
                 .channelBlocks = m_x.blocks,
                 .tiles = chunk.count,
                 .end = m_end.scale || m_end.addend ? &end : nullptr,
                 .block = m_x.block});
    }

    const Machine& m_machine;
    const Bf16Table* m_pairs;
    bool m_turned;
    Plane m_x, m_y;
    NormedInput m_norm;
    ConvEnd m_end;
    bool m_readsHalves, m_makesHalves, m_hasPairedFilters;  // only with pairs
};

// Every part of the pixels has sums of its own; they are added up in their order.
class PointwiseBackwardWeights final : public Kernel {
public:
    explicit PointwiseBackwardWeights(const Order& order)
        : m_machine(order.machine),
          m_pairs(pairsOf(order)),
          m_x(order.input(0)),
          m_dy(order.input(1)),
          m_norm(order),
          m_readsHalves(order.input(0).type.dtype == DType::BF16) {}

    std::size_t workspaceBytes() const override {
        return (m_norm.floats() + static_cast<std::size_t>(m_machine.threads) * partFloats()) * sizeof(float);
    }

    void run(const KernelCall& call) override {
        auto* const norm = reinterpret_cast<float*>(call.workspace);
        if (m_norm) m_norm.prepare(call, norm);
        float* const parts = norm + m_norm.floats();
        inParts(m_machine.threads, m_x.chunks(), [&](std::size_t part, std::size_t begin, std::size_t end) {
            float* sums = parts + part * partFloats();
            std::fill_n(sums, filterFloats(), 0.0f);
            for (std::size_t i = begin; i < end; ++i) addChunk(call, norm, i, sums);
        });
        float* dw = out(call, 0);
        std::copy_n(parts, filterFloats(), dw);
        for (int part = 1; part < m_machine.threads; ++part)
            m_machine.simd->floats.addRow(dw, parts + static_cast<std::size_t>(part) * partFloats(), filterFloats());
    }

private:
    static constexpr std::size_t kPairedBlock = kPixels * 16 / 2;

    std::size_t filterFloats() const { return m_x.blocks * m_dy.blocks * m_x.filterFloats(); }
    std::size_t roomFloats() const {
        if (m_pairs) return (m_x.blocks + m_dy.blocks) * kPairedBlock;
        return m_norm ? m_x.chunkFloats() : 0;
    }
    std::size_t partFloats() const { return filterFloats() + roomFloats(); }

    void addChunk(const KernelCall& call, const float* norm, std::size_t i, float* sums) const {
        const Chunk chunk(m_x, i);
        const std::size_t from = m_x.at(chunk.sample, chunk.begin), fromDy = m_dy.at(chunk.sample, chunk.begin);
        float* const room = sums + filterFloats();
        BlockGradientProduct product{.filters = sums,
                                     .gradientStride = m_dy.blockStride(),
                                     .dataStride = m_x.blockStride(),
                                     .filterStride = m_x.blocks * m_x.filterFloats(),
                                     .blocks = m_dy.blocks,
                                     .channelBlocks = m_x.blocks,
                                     .tiles = chunk.count,
                                     .adds = true,
                                     .block = m_x.block};
        if (m_pairs) {
            float* const pairedDy = room + m_x.blocks * kPairedBlock;
            eachBlock(m_norm, norm, m_x.blocks, [&](std::size_t b, const ChannelAffine* form) {
                pairRows(call, 0, from + b * m_x.blockStride(), form, room + b * kPairedBlock, chunk.count);
            });
            for (std::size_t b = 0; b < m_dy.blocks; ++b)
                pairRows(call, 1, fromDy + b * m_dy.blockStride(), nullptr, pairedDy + b * kPairedBlock, chunk.count);
            product.gradients = pairedDy;
            product.data = room;
            product.gradientStride = product.dataStride = kPairedBlock;
            product.tiles = (chunk.count + 1) / 2;
            return m_pairs->blockGradientProduct(product);
        }
        product.gradients = in(call, 1) + fromDy;
        product.data = in(call, 0) + from;
        if (m_norm) {
            m_norm.apply(norm, product.data, m_x.block, m_x.blockStride(), chunk.count, room);
            product.data = room;
            product.dataStride = chunk.count * m_x.block;
        }
        m_machine.simd->blockGradientProduct(product);
    }

    // From an input's element on.
    void pairRows(const KernelCall& call, std::size_t input, std::size_t at, const ChannelAffine* form, float* to,
                  std::size_t rows) const {
        if (m_readsHalves) m_pairs->pairRowsOfHalves(in<Bf16>(call, input) + at, form, to, rows);
        else m_pairs->pairRows(in(call, input) + at, form, to, rows);
    }

    const Machine& m_machine;
    const Bf16Table* m_pairs;
    Plane m_x, m_dy;
    NormedInput m_norm;
    bool m_readsHalves;  // only with pairs
};

}  // namespace

std::unique_ptr<Kernel> makePointwise(const Order& order) { return std::make_unique<Pointwise>(order, false); }

std::unique_ptr<Kernel> makePointwiseBackwardData(const Order& order) {
    return std::make_unique<Pointwise>(order, true);
}

std::unique_ptr<Kernel> makePointwiseBackwardWeights(const Order& order) {
    return std::make_unique<PointwiseBackwardWeights>(order);
}

}  // namespace lockstep::cpu
