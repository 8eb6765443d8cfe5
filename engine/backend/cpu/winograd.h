#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "engine/backend/cpu/conv_end.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/normed_input.h"
#include "engine/backend/cpu/parallel.h"

// What the two schedules of Winograd's convolution share: winograd.cpp, where the points of all filters stay in the
// cache and tiles go by, and winograd_streamed.cpp, where tiles stay and filters go by.
namespace lockstep::cpu::winograd {

constexpr std::size_t kLanes = 16, kFilter = kLanes * kLanes, kTaps = 9;

// Weights in memory, of so many blocks of 16 channels, which lie in blocks of `block` channels and outputs.
struct Weights {
    std::size_t block, channelBlocks;

    // Those of 16 channels and 16 outputs.
    std::size_t at(std::size_t outputs, std::size_t channels) const {
        return (outputs * channelBlocks * kLanes + channels * block) * kTaps * kLanes;
    }
    WinogradFilters form() const { return {block, channelBlocks * kLanes * kTaps * block}; }
};

// x and y of a convolution, or dx and dy, both in such blocks of channels. The tiles are those of `outputs`.
struct Shapes {
    Shape inputs, outputs;
    std::array<int, 2> padding;
    int block;

    WinogradForm form() const {
        const auto isTwoByTwo = [](const Shape& image) { return image[2] == 2 && image[3] == 2; };
        return isTwoByTwo(inputs) && isTwoByTwo(outputs) ? WinogradForm::Image2 : WinogradForm::Tile4;
    }
    std::size_t points() const { return form() == WinogradForm::Tile4 ? 36 : 9; }
    std::size_t inputBlocks() const { return static_cast<std::size_t>(inputs[1]) / kLanes; }
    std::size_t outputBlocks() const { return static_cast<std::size_t>(outputs[1]) / kLanes; }
    Weights weights(bool turned) const {
        return {static_cast<std::size_t>(block), turned ? outputBlocks() : inputBlocks()};
    }
    std::size_t tiles() const {
        return static_cast<std::size_t>(outputs[0] * tilesAlong(outputs[2]) * tilesAlong(outputs[3]));
    }
    WinogradImage input() const {
        WinogradImage image = imageOf(inputs);
        if (form() == WinogradForm::Image2) return image;
        image.top = padding[0];
        image.left = padding[1];
        return image;
    }
    WinogradImage output() const { return imageOf(outputs); }

private:
    std::int64_t tilesAlong(std::int64_t pixels) const {
        const std::int64_t side = form() == WinogradForm::Tile4 ? 4 : 2;
        return (pixels + side - 1) / side;
    }
    WinogradImage imageOf(const Shape& shape) const {
        return {.form = form(),
                .height = shape[2],
                .width = shape[3],
                .tileRows = tilesAlong(outputs[2]),
                .tileColumns = tilesAlong(outputs[3]),
                .sampleStride = static_cast<std::size_t>(shape[1] * shape[2] * shape[3]),
                .block = block};
    }
};

inline std::size_t blockStride(const WinogradImage& image) {
    return static_cast<std::size_t>(image.height * image.width) * kLanes;
}

// The points of some tiles: [point][block][tile][16]. Points lie a line more than a round number apart, or they would
// drive each other out of the cache.
struct Points {
    std::size_t count = 0, blocks = 0, tiles = 0;

    std::size_t blockStride() const { return tiles * kLanes; }
    std::size_t pointStride() const { return blocks * blockStride() + kLanes; }
    std::size_t floats() const { return count * pointStride(); }
};

// The points of some filters: [point][block of outputs][block of channels][16 channels][16], likewise.
struct Filters {
    std::size_t points = 0, blocks = 0, channelBlocks = 0;

    std::size_t blockStride() const { return channelBlocks * kFilter; }
    std::size_t pointStride() const { return blocks * blockStride() + kLanes; }
    std::size_t floats() const { return points * pointStride(); }
};

// x, or ReLU of its norm, whose affine forms lie at the front of the workspace. Of floats or bf16.
class Inputs {
public:
    Inputs(const Order& order, const Shapes& shapes)
        : m_simd(*order.machine.simd), m_image(shapes.input()), m_norm(order), m_dtype(order.input(0).type.dtype) {}

    const WinogradImage& image() const { return m_image; }
    const NormedInput& norm() const { return m_norm; }

    // The points of some channel blocks of some tiles.
    void transform(const KernelCall& call, const Range& blocks, const Range& tiles, const Points& points,
                   float* data) const {
        const WinogradSpan span{tiles.begin, tiles.end - tiles.begin, points.pointStride()};
        for (std::size_t b = blocks.begin; b < blocks.end; ++b) {
            const std::size_t at = b * blockStride(m_image);
            float* const to = data + b * points.blockStride();
            const auto* forms = reinterpret_cast<const float*>(call.workspace);
            const auto affine = m_norm ? m_norm.affine(forms, b) : ChannelAffine{};
            const ChannelAffine* norm = m_norm ? &affine : nullptr;
            if (m_dtype == DType::BF16) m_simd.winogradDataHalves(m_image, in<Bf16>(call, 0) + at, span, norm, to);
            else m_simd.winogradData(m_image, in(call, 0) + at, span, norm, to);
        }
    }

private:
    const SimdTable& m_simd;
    WinogradImage m_image;
    NormedInput m_norm;
    DType m_dtype;
};

// dy of a backward pass of the weights. Of floats or bf16.
class Gradients {
public:
    Gradients(const Order& order, const Shapes& shapes)
        : m_simd(*order.machine.simd), m_image(shapes.output()), m_dtype(order.input(1).type.dtype) {}

    // The points of some channel blocks of some tiles.
    void transform(const KernelCall& call, const Range& blocks, const Range& tiles, const Points& points,
                   float* gradients) const {
        const WinogradSpan span{tiles.begin, tiles.end - tiles.begin, points.pointStride()};
        for (std::size_t b = blocks.begin; b < blocks.end; ++b) {
            const std::size_t at = b * blockStride(m_image);
            float* const to = gradients + b * points.blockStride();
            if (m_dtype == DType::BF16) m_simd.winogradGradientHalves(m_image, in<Bf16>(call, 1) + at, span, to);
            else m_simd.winogradGradient(m_image, in(call, 1) + at, span, to);
        }
    }

private:
    const SimdTable& m_simd;
    WinogradImage m_image;
    DType m_dtype;
};

// y, or dx: what becomes of products.
class Outputs {
public:
    Outputs(const Order& order, const Shapes& shapes)
        : m_simd(*order.machine.simd),
          m_image(shapes.output()),
          m_end(endOf(order.node)),
          m_dtype(order.output(0).type.dtype) {}

    // Some blocks of some tiles, from the products of these blocks.
    void write(const KernelCall& call, const Range& blocks, const Range& tiles, const Points& points,
               const float* products) const {
        const WinogradSpan span{tiles.begin, tiles.end - tiles.begin, points.pointStride()};
        for (std::size_t block = blocks.begin; block < blocks.end; ++block) {
            const std::size_t at = block * blockStride(m_image);
            const float* const from = products + (block - blocks.begin) * points.blockStride();
            if (m_dtype == DType::BF16)
                m_simd.winogradOutputHalves(m_image, from, span, sumEnd<Bf16>(call, m_end, block, at),
                                            out<Bf16>(call, 0) + at);
            else m_simd.winogradOutput(m_image, from, span, sumEnd<float>(call, m_end, block, at), out(call, 0) + at);
        }
    }

private:
    const SimdTable& m_simd;
    WinogradImage m_image;
    ConvEnd m_end;
    DType m_dtype;
};

// Where their points, with others' products beside them, do not fit into the second-level cache.
inline bool areMany(const Shapes& shapes) { return shapes.inputBlocks() * shapes.outputBlocks() >= 256; }

// winograd_streamed.cpp
std::unique_ptr<Kernel> makeStreamed(const Order& order, const Shapes& shapes, bool turned);
std::unique_ptr<Kernel> makeStreamedBackwardWeights(const Order& order, const Shapes& shapes);

}  // namespace lockstep::cpu::winograd
