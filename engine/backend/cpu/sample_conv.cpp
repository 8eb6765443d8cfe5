#include <algorithm>

#include "engine/backend/cpu/conv_request.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"

// Convolutions of bf16 whose tiles have samples in their rows: of a pixel, sixteen samples at a time. Small images fill
// such tiles as well as large ones do, windows and strides only say which pixels are multiplied, and padding costs
// nothing. Images lie channels last; a product's depth is one pixel's channels after the other, or for the gradient of
// weights one pixel's samples after the other.
namespace lockstep::cpu {

namespace {

constexpr std::size_t kPanel = 32, kHalfPanel = 16;

std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

// Of the forward pass: which pixel of x which tap brings to which pixel of y.
struct Link {
    std::size_t from, tap, to;
};

// Calls body(link) for all, by pixels of y, then by taps.
template <class Body>
void forEachLink(const Conv2dAttrs& attrs, const Shape& x, const Shape& w, const Shape& y, Body body) {
    const auto sourceOf = [&](std::size_t axis, std::int64_t to, std::int64_t tap) {
        return to * attrs.stride[axis] - attrs.padding[axis] + tap * attrs.dilation[axis];
    };
    for (std::int64_t to = 0; to < y[2] * y[3]; ++to) {
        for (std::int64_t tap = 0; tap < w[2] * w[3]; ++tap) {
            const std::int64_t row = sourceOf(0, to / y[3], tap / w[3]), column = sourceOf(1, to % y[3], tap % w[3]);
            if (row >= 0 && row < x[2] && column >= 0 && column < x[3])
                body(Link{size(row * x[3] + column), size(tap), size(to)});
        }
    }
}

using Parts = std::vector<std::vector<GemmPart>>;

GemmRun runOver(const float* a, std::size_t aRowStride, const float* panel, std::size_t depth,
                const std::vector<GemmPart>& parts) {
    GemmRun run{.a = a, .aRowStride = aRowStride, .aDepthStride = 1, .panel = panel};
    run.depth = depth;
    run.cRowStride = run.columns = kPanel;
    run.parts = parts.data();
    run.partCount = parts.size();
    return run;
}

// An image from another and the weights, which lie in panels (onednn::Desc::productPanels): y from x, or dx from dy.
class ImageProduct final : public Kernel {
public:
    ImageProduct(const Order& order, Parts parts)
        : m_machine(order.machine),
          m_samples(size(order.output(0).type.shape[0])),
          m_depth(size(order.input(0).type.shape[1])),
          m_columns(size(order.output(0).type.shape[1])),
          m_sampleElements(size(order.input(0).type.shape.count()) / m_samples),
          m_panelFloats(size(order.input(1).type.shape.count()) / (m_columns / kPanel) / 2),
          m_parts(std::move(parts)) {}

    std::size_t workspaceBytes() const override {
        return static_cast<std::size_t>(m_machine.threads) * sumFloats() * sizeof(float);
    }

    void run(const KernelCall& call) override {
        const std::size_t pixels = m_parts.size();
        // Panel by panel: each stays in the cache for all pixels.
        inParts(m_machine.threads, m_columns / kPanel * pixels,
                [&](std::size_t part, std::size_t begin, std::size_t end) {
                    const RowProducts products(m_machine.gemmRows);
                    float* const sums = reinterpret_cast<float*>(call.workspace) + part * sumFloats();
                    for (std::size_t item = begin; item < end; ++item)
                        makePixel(call, products, item / pixels, item % pixels, sums);
                });
    }

private:
    std::size_t sumFloats() const { return m_samples * kPanel; }

    void makePixel(const KernelCall& call, const RowProducts& products, std::size_t panel, std::size_t pixel,
                   float* sums) const {
        GemmRun run = runOver(in(call, 0), m_sampleElements / 2, in(call, 1) + panel * m_panelFloats, m_depth / 2,
                              m_parts[pixel]);
        run.c = sums;
        run.rows = m_samples;
        if (m_parts[pixel].empty()) std::fill_n(sums, sumFloats(), 0.0f);
        else products.multiply(run);
        Bf16* y = out<Bf16>(call, 0) + pixel * m_columns + panel * kPanel;
        for (std::size_t n = 0; n < m_samples; ++n, y += m_parts.size() * m_columns)
            m_machine.simd->halves.scale(sums + n * kPanel, 1, y, kPanel);
    }

    const Machine& m_machine;
    std::size_t m_samples, m_depth, m_columns, m_sampleElements, m_panelFloats;
    Parts m_parts;  // of each pixel that is made
};

// dw from x and dy, in blocks of 16 channels and 16 filters. Both images are packed first: x with channels, dy with
// filters side by side, each as pairs of samples.
class WeightsProduct final : public Kernel {
public:
    explicit WeightsProduct(const Order& order)
        : m_machine(order.machine),
          m_samples(size(order.input(0).type.shape[0])),
          m_channels(size(order.input(0).type.shape[1])),
          m_filters(size(order.input(1).type.shape[1])),
          m_pixels{pixelsOf(order.input(0)), pixelsOf(order.input(1))} {
        const auto& [attrs, shape] = order.node.attrs.as<Conv2dBackwardAttrs>();
        m_parts.resize(size(shape[2] * shape[3]));
        forEachLink(attrs, order.input(0).type.shape, shape, order.input(1).type.shape, [&](const Link& link) {
            m_parts[link.tap].push_back({link.from * m_channels * pairs(), link.to * m_filters * pairs()});
        });
    }

    std::size_t workspaceBytes() const override {
        return (xFloats() + yFloats() + static_cast<std::size_t>(m_machine.threads) * scratchFloats()) * sizeof(float);
    }

    void run(const KernelCall& call) override {
        auto* const x = reinterpret_cast<float*>(call.workspace);
        float *const dy = x + xFloats(), *const scratch = dy + yFloats();
        inParts(m_machine.threads, m_pixels[0], [&](std::size_t part, std::size_t begin, std::size_t end) {
            for (std::size_t pixel = begin; pixel < end; ++pixel)
                packX(in<Bf16>(call, 0), pixel, scratch + part * scratchFloats(), x);
        });
        inParts(m_machine.threads, m_pixels[1], [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t pixel = begin; pixel < end; ++pixel) packY(in<Bf16>(call, 1), pixel, dy);
        });
        // All taps of an item read the same of both.
        const std::size_t rows = m_channels / kPanel;
        inParts(m_machine.threads, rows * (m_filters / kPanel),
                [&](std::size_t part, std::size_t begin, std::size_t end) {
                    const RowProducts products(m_machine.gemmRows);
                    float* const sums = scratch + part * scratchFloats();
                    for (std::size_t item = begin; item < end; ++item)
                        makeTaps(products, x, dy, item % rows, item / rows, sums, out(call, 0));
                });
    }

private:
    static std::size_t pixelsOf(const Value& image) { return size(image.type.shape[2] * image.type.shape[3]); }
    std::size_t pairs() const { return m_samples / 2; }
    std::size_t xFloats() const { return m_pixels[0] * m_channels * pairs(); }
    std::size_t yFloats() const { return m_pixels[1] * m_filters * pairs(); }
    std::size_t scratchFloats() const { return std::max(kPanel * kPanel, pairs() * 16); }

    // body(pair, the pixel of its first sample, of its second)
    template <class Body>
    void forEachPair(const Bf16* image, std::size_t pixels, std::size_t channels, std::size_t pixel, Body body) const {
        const std::size_t sample = pixels * channels;
        const Bf16* even = image + pixel * channels;
        for (std::size_t pair = 0; pair < pairs(); ++pair, even += 2 * sample) body(pair, even, even + sample);
    }

    // [pixel][channel][pair of samples]
    void packX(const Bf16* image, std::size_t pixel, float* block, float* x) const {
        for (std::size_t channel = 0; channel < m_channels; channel += 16) {
            forEachPair(image, m_pixels[0], m_channels, pixel,
                        [&](std::size_t pair, const Bf16* even, const Bf16* odd) {
                            m_machine.simd->interleave(even + channel, odd + channel, block + pair * 16, 16);
                        });
            float* const rows = x + (pixel * m_channels + channel) * pairs();
            for (std::size_t pair = 0; pair < pairs(); pair += 16)
                m_machine.simd->rowsToLanes(block + pair * 16, 16, 16, rows + pair, pairs(), 16);
        }
    }

    // [pixel][panel of filters][pair of samples][filter]
    void packY(const Bf16* image, std::size_t pixel, float* dy) const {
        forEachPair(image, m_pixels[1], m_filters, pixel, [&](std::size_t pair, const Bf16* even, const Bf16* odd) {
            for (std::size_t filter = 0; filter < m_filters; filter += kPanel)
                m_machine.simd->interleave(even + filter, odd + filter,
                                           dy + (pixel * m_filters + filter) * pairs() + pair * kPanel, kPanel);
        });
    }

    void makeTaps(const RowProducts& products, const float* x, const float* dy, std::size_t row, std::size_t panel,
                  float* sums, float* dw) const {
        for (std::size_t tap = 0; tap < m_parts.size(); ++tap) {
            GemmRun run =
                runOver(x + row * kPanel * pairs(), pairs(), dy + panel * kPanel * pairs(), pairs(), m_parts[tap]);
            run.c = sums;
            run.rows = kPanel;
            if (m_parts[tap].empty()) std::fill_n(sums, kPanel * kPanel, 0.0f);
            else products.multiply(run);
            for (std::size_t half = 0; half < 4; ++half) copyBlock(sums, half / 2, half % 2, row, panel, tap, dw);
        }
    }

    // One of the four blocks of `sums`, of channels by filters.
    void copyBlock(const float* sums, std::size_t low, std::size_t right, std::size_t row, std::size_t panel,
                   std::size_t tap, float* dw) const {
        const std::size_t channels = 2 * row + low, filters = 2 * panel + right;  // blocks before it
        float* to = dw + ((filters * (m_channels / kHalfPanel) + channels) * m_parts.size() + tap) * 256;
        const float* from = sums + low * kHalfPanel * kPanel + right * kHalfPanel;
        for (std::size_t i = 0; i < kHalfPanel; ++i) std::copy_n(from + i * kPanel, kHalfPanel, to + i * kHalfPanel);
    }

    const Machine& m_machine;
    std::size_t m_samples, m_channels, m_filters;
    std::array<std::size_t, 2> m_pixels;
    Parts m_parts;  // of each tap
};

}  // namespace

std::unique_ptr<Kernel> makeSampleConv(const Order& order) {
    const Shape &x = order.input(0).type.shape, &w = order.input(1).type.shape, &y = order.output(0).type.shape;
    Parts parts(size(y[2] * y[3]));
    const std::size_t depth = size(x[1]);
    forEachLink(convAttrs(order.node), x, w, y, [&](const Link& link) {
        parts[link.to].push_back({link.from * depth / 2, link.tap * depth / 2 * kPanel});
    });
    return std::make_unique<ImageProduct>(order, std::move(parts));
}

std::unique_ptr<Kernel> makeSampleConvBackwardData(const Order& order) {
    const Shape &dx = order.output(0).type.shape, &w = order.input(1).type.shape, &dy = order.input(0).type.shape;
    Parts parts(size(dx[2] * dx[3]));
    const std::size_t depth = size(dy[1]);
    forEachLink(order.node.attrs.as<Conv2dBackwardAttrs>().conv, dx, w, dy, [&](const Link& link) {
        parts[link.from].push_back({link.to * depth / 2, link.tap * depth / 2 * kPanel});
    });
    return std::make_unique<ImageProduct>(order, std::move(parts));
}

std::unique_ptr<Kernel> makeSampleConvBackwardWeights(const Order& order) {
    return std::make_unique<WeightsProduct>(order);
}

}  // namespace lockstep::cpu
