#include <algorithm>

#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/normed_input.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

namespace {

constexpr std::size_t kLanes = 16, kFilter = kLanes * kLanes, kPixels = 112;

// An image in channel blocks, whose pixels are gone through in chunks.
struct Plane {
    std::size_t samples, blocks, pixels;

    explicit Plane(const Shape& shape)
        : samples(static_cast<std::size_t>(shape[0])),
          blocks(static_cast<std::size_t>(shape[1]) / kLanes),
          pixels(static_cast<std::size_t>(shape[2] * shape[3])) {}
    std::size_t blockStride() const { return pixels * kLanes; }
    std::size_t at(std::size_t sample, std::size_t pixel) const {
        return sample * blocks * blockStride() + pixel * kLanes;
    }
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

// Forward; or backward-data, which is the same of dy with every block of filters transposed.
class Pointwise final : public Kernel {
public:
    Pointwise(const Order& order, bool turned)
        : m_machine(order.machine),
          m_turned(turned),
          m_x(order.input(0).type.shape),
          m_y(order.output(0).type.shape),
          m_norm(order),
          m_addend(addendOf(order.node)) {}

    std::size_t workspaceBytes() const override {
        const std::size_t filters = m_turned ? m_x.blocks * m_y.blocks * kFilter : 0;
        const std::size_t chunks = static_cast<std::size_t>(m_machine.threads) * chunkFloats();
        return (m_norm.floats() + filters + chunks) * sizeof(float);
    }

    void run(const KernelCall& call) override {
        auto* const norm = reinterpret_cast<float*>(call.workspace);
        if (m_norm) m_norm.prepare(call, norm);
        float* room = norm + m_norm.floats();
        const float* filters = in(call, 1);
        if (m_turned) {
            turnFilters(filters, room);
            filters = room;
            room += m_x.blocks * m_y.blocks * kFilter;
        }
        const float* addend = m_addend ? in(call, *m_addend) : nullptr;
        inParts(m_machine.threads, m_x.chunks(), [&](std::size_t part, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                multiply(call, {norm, filters, addend}, i, room + part * chunkFloats());
        });
    }

private:
    struct Inputs {
        const float *norm, *filters, *addend;
    };

    std::size_t chunkFloats() const { return m_norm ? m_x.blocks * kPixels * kLanes : 0; }

    void turnFilters(const float* w, float* turned) const {
        for (std::size_t k = 0; k < m_x.blocks; ++k) {
            for (std::size_t c = 0; c < m_y.blocks; ++c)
                m_machine.simd->rowsToLanes(w + (k * m_y.blocks + c) * kFilter, kLanes, kLanes,
                                            turned + (c * m_x.blocks + k) * kFilter, kLanes, kLanes);
        }
    }

    void multiply(const KernelCall& call, const Inputs& inputs, std::size_t i, float* room) const {
        const Chunk chunk(m_x, i);
        const float* data = in(call, 0) + m_x.at(chunk.sample, chunk.begin);
        std::size_t dataStride = m_x.blockStride();
        if (m_norm) {
            m_norm.apply(inputs.norm, data, dataStride, chunk.count, room);
            data = room;
            dataStride = chunk.count * kLanes;
        }
        const std::size_t at = m_y.at(chunk.sample, chunk.begin);
        m_machine.simd->blockProduct({.filters = inputs.filters,
                                      .data = data,
                                      .addends = inputs.addend ? inputs.addend + at : nullptr,
                                      .products = out(call, 0) + at,
                                      .filterStride = m_x.blocks * kFilter,
                                      .dataStride = dataStride,
                                      .productStride = m_y.blockStride(),
                                      .blocks = m_y.blocks,
                                      .channelBlocks = m_x.blocks,
                                      .tiles = chunk.count});
    }

    const Machine& m_machine;
    bool m_turned;
    Plane m_x, m_y;
    NormedInput m_norm;
    std::optional<std::size_t> m_addend;
};

// Every part of the pixels has sums of its own; they are added up in their order.
class PointwiseBackwardWeights final : public Kernel {
public:
    explicit PointwiseBackwardWeights(const Order& order)
        : m_machine(order.machine), m_x(order.input(0).type.shape), m_dy(order.input(1).type.shape), m_norm(order) {}

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
            m_machine.simd->addRow(dw, parts + static_cast<std::size_t>(part) * partFloats(), filterFloats());
    }

private:
    std::size_t filterFloats() const { return m_x.blocks * m_dy.blocks * kFilter; }
    std::size_t partFloats() const { return filterFloats() + (m_norm ? m_x.blocks * kPixels * kLanes : 0); }

    void addChunk(const KernelCall& call, const float* norm, std::size_t i, float* sums) const {
        const Chunk chunk(m_x, i);
        const float* data = in(call, 0) + m_x.at(chunk.sample, chunk.begin);
        std::size_t dataStride = m_x.blockStride();
        if (m_norm) {
            float* room = sums + filterFloats();
            m_norm.apply(norm, data, dataStride, chunk.count, room);
            data = room;
            dataStride = chunk.count * kLanes;
        }
        m_machine.simd->blockGradientProduct({.gradients = in(call, 1) + m_dy.at(chunk.sample, chunk.begin),
                                              .data = data,
                                              .filters = sums,
                                              .gradientStride = m_dy.blockStride(),
                                              .dataStride = dataStride,
                                              .filterStride = m_x.blocks * kFilter,
                                              .blocks = m_dy.blocks,
                                              .channelBlocks = m_x.blocks,
                                              .tiles = chunk.count,
                                              .adds = true});
    }

    const Machine& m_machine;
    Plane m_x, m_dy;
    NormedInput m_norm;
};

}  // namespace

std::unique_ptr<Kernel> makePointwise(const Order& order) {
    return std::make_unique<Pointwise>(order, false);
}

std::unique_ptr<Kernel> makePointwiseBackwardData(const Order& order) {
    return std::make_unique<Pointwise>(order, true);
}

std::unique_ptr<Kernel> makePointwiseBackwardWeights(const Order& order) {
    return std::make_unique<PointwiseBackwardWeights>(order);
}

}  // namespace lockstep::cpu
