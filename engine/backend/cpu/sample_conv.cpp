#include <algorithm>
#include <array>

#include "engine/backend/cpu/conv_request.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/tile_conv.h"

// Convolutions of bf16 whose tiles have samples in their rows: of a pixel, sixteen samples at a time. Small images fill
// such tiles as well as large ones do, windows and strides only say which pixels are multiplied, and padding costs
// nothing. Images lie channels last, and are packed first, so that the rows of a tile follow each other; a product's
// depth is one pixel's channels after the other, or for the gradient of weights one pixel's samples after the other.
namespace lockstep::cpu {

namespace {

constexpr std::size_t kMostSamples = TileEnd::kMostRows;
constexpr std::size_t kFewBytes = 512 * 1024;

// An image as the products here see it: groups of samples, each of which has its pixels. Strides in elements.
struct Grid {
    std::size_t samples, groups, pixels, channels;

    explicit Grid(const Shape& image) : pixels(size(image[2] * image[3])), channels(size(image[1])) {
        const std::size_t all = size(image[0]);
        samples = all % kMostSamples == 0 ? kMostSamples : kTilePanel;
        groups = all / samples;
    }
    std::size_t sampleStride() const { return pixels * channels; }
    std::size_t at(std::size_t group, std::size_t pixel) const {
        return group * samples * sampleStride() + pixel * channels;
    }
};

// Of the forward pass: which pixel of x which tap brings to which pixel of y.
struct Link {
    std::size_t from, tap, to;
};

// Calls body(link) for all, by pixels of y, then by taps.
template <class Body>
void forEachLink(const Conv2dAttrs& attrs, const Shape& x, const Shape& w, const Shape& y, Body body) {
    for (std::int64_t to = 0; to < y[2] * y[3]; ++to) {
        for (std::int64_t tap = 0; tap < w[2] * w[3]; ++tap) {
            const std::int64_t row = *sourceOf(attrs, 0, true, to / y[3], tap / w[3]);
            const std::int64_t column = *sourceOf(attrs, 1, true, to % y[3], tap % w[3]);
            if (row >= 0 && row < x[2] && column >= 0 && column < x[3])
                body(Link{size(row * x[3] + column), size(tap), size(to)});
        }
    }
}

using Parts = std::vector<std::vector<GemmPart>>;

// An image from another and the weights, which lie in panels (onednn::Desc::productPanels): y from x, or dx from dy.
class ImageProduct final : public Kernel {
public:
    ImageProduct(const Order& order, const Grid& from, const Grid& to, Parts parts)
        : m_machine(order.machine),
          m_from(from),
          m_to(to),
          m_panelFloats(size(order.input(1).type.shape.count()) / (to.channels / kTilePanel) / 2),
          m_parts(std::move(parts)),
          m_end(order) {}

    std::size_t workspaceBytes() const override {
        return (packedFloats() + static_cast<std::size_t>(m_machine.threads) * sumFloats()) * sizeof(float);
    }

    void run(const KernelCall& call) override {
        auto* const packed = reinterpret_cast<float*>(call.workspace);
        pack(in(call, 0), packed);
        const std::size_t places = m_to.groups * m_to.pixels, panels = m_to.channels / kTilePanel;
        // Few weights stay in the cache as a whole, then each pixel is made at once; of many each panel does for all
        // pixels.
        const bool areFew = panels * m_panelFloats * sizeof(float) <= kFewBytes;
        inParts(m_machine.threads, panels * places, [&](std::size_t part, std::size_t begin, std::size_t end) {
            const RowProducts products(m_machine.gemmRows);
            float* const sums = packed + packedFloats() + part * sumFloats();
            for (std::size_t item = begin; item < end; ++item) {
                const std::size_t panel = areFew ? item % panels : item / places;
                const std::size_t place = areFew ? item / panels : item % places;
                makePixel(call, packed, products, panel, place / m_to.pixels, place % m_to.pixels, sums);
            }
        });
    }

private:
    std::size_t sumFloats() const { return m_to.samples * kTilePanel; }
    std::size_t groupFloats() const { return m_from.pixels * m_from.samples * m_from.channels / 2; }
    std::size_t packedFloats() const { return m_from.groups * groupFloats(); }

    // [group][pixel][kPairs pairs of channels][sample][pair]: the rows of a tile follow each other. As the image lies
    // they are as far apart as makes them meet in the same places of a cache.
    void pack(const float* image, float* packed) const {
        inParts(m_machine.threads, m_from.groups * m_from.pixels, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t place = begin; place < end; ++place) {
                const float* from = image + m_from.at(place / m_from.pixels, place % m_from.pixels) / 2;
                float* const to = packed + place * m_from.samples * m_from.channels / 2;
                for (std::size_t n = 0; n < m_from.samples; ++n, from += m_from.sampleStride() / 2)
                    m_machine.simd->copyRows(from, kPairs, kPairs, to + n * kPairs, m_from.samples * kPairs,
                                             m_from.channels / kTilePanel);
            }
        });
    }

    void makePixel(const KernelCall& call, const float* packed, const RowProducts& products, std::size_t panel,
                   std::size_t group, std::size_t pixel, float* sums) const {
        GemmRun run = tileRun(packed + group * groupFloats(), kPairs, in(call, 1) + panel * m_panelFloats, kPairs,
                              m_parts[pixel]);
        run.c = sums;
        run.rows = m_to.samples;
        if (m_parts[pixel].empty()) std::fill_n(sums, sumFloats(), 0.0f);
        else products.multiply(run);
        std::array<std::size_t, TileEnd::kMostRows> at{};
        for (std::size_t n = 0; n < m_to.samples; ++n) at[n] = m_to.at(group, pixel) + n * m_to.sampleStride();
        m_end.write(call, panel * kTilePanel, sums, m_to.samples, at.data());
    }

    const Machine& m_machine;
    Grid m_from, m_to;
    std::size_t m_panelFloats;
    Parts m_parts;  // of each pixel that is made
    TileEnd m_end;
};

// dw from x and dy, in blocks of 16 channels and 16 filters. Both images are packed first: x with channels, dy with
// filters side by side, each as pairs of samples.
class WeightsProduct final : public Kernel {
public:
    WeightsProduct(const Order& order, const Grid& x, const Grid& dy, Parts parts)
        : m_machine(order.machine), m_x(x), m_dy(dy), m_parts(std::move(parts)) {}

    std::size_t workspaceBytes() const override {
        return (floatsOf(m_x) + floatsOf(m_dy) + static_cast<std::size_t>(m_machine.threads) * scratchFloats()) *
               sizeof(float);
    }

    void run(const KernelCall& call) override {
        auto* const x = reinterpret_cast<float*>(call.workspace);
        float *const dy = x + floatsOf(m_x), *const scratch = dy + floatsOf(m_dy);
        overPlaces(m_x, [&](std::size_t part, std::size_t place) {
            packX(in<Bf16>(call, 0), place, scratch + part * scratchFloats(), x);
        });
        overPlaces(m_dy, [&](std::size_t, std::size_t place) { packY(in<Bf16>(call, 1), place, dy); });
        // All taps of an item read the same of both.
        const std::size_t rows = m_x.channels / kTilePanel;
        inParts(m_machine.threads, rows * (m_dy.channels / kTilePanel),
                [&](std::size_t part, std::size_t begin, std::size_t end) {
                    const RowProducts products(m_machine.gemmRows);
                    float* const sums = scratch + part * scratchFloats();
                    for (std::size_t item = begin; item < end; ++item)
                        makeTaps(products, x, dy, item % rows, item / rows, sums, out(call, 0));
                });
    }

private:
    std::size_t pairs() const { return m_x.samples / 2; }
    std::size_t floatsOf(const Grid& image) const { return image.groups * image.pixels * image.channels * pairs(); }
    std::size_t scratchFloats() const { return std::max(kTilePanel * kTilePanel, pairs() * m_x.channels); }

    // body(part, place), where a place is a pixel of a group.
    template <class Body>
    void overPlaces(const Grid& image, Body body) const {
        inParts(m_machine.threads, image.groups * image.pixels,
                [&](std::size_t part, std::size_t begin, std::size_t end) {
                    for (std::size_t place = begin; place < end; ++place) body(part, place);
                });
    }
    // A place's samples, the second with the first and so on.
    PairedRows pairsOf(const Bf16* values, const Grid& image, std::size_t place) const {
        const Bf16* const first = values + image.at(place / image.pixels, place % image.pixels);
        return {.even = first,
                .odd = first + image.sampleStride(),
                .stride = 2 * image.sampleStride(),
                .count = pairs(),
                .columns = image.channels};
    }

    // [place][channel][pair of samples]
    void packX(const Bf16* values, std::size_t place, float* rows, float* x) const {
        PairedRows samples = pairsOf(values, m_x, place);
        samples.to = rows;
        samples.rowStride = m_x.channels;
        samples.panelStride = kTilePanel;
        m_machine.simd->interleaveRows(samples);
        float* const to = x + place * m_x.channels * pairs();
        for (std::size_t pair = 0; pair < pairs(); pair += kPairs)
            m_machine.simd->rowsToLanes(rows + pair * m_x.channels, m_x.channels, kPairs, to + pair, pairs(),
                                        m_x.channels);
    }

    // [place][panel of filters][pair of samples][filter]
    void packY(const Bf16* values, std::size_t place, float* dy) const {
        PairedRows samples = pairsOf(values, m_dy, place);
        samples.to = dy + place * m_dy.channels * pairs();
        samples.rowStride = kTilePanel;
        samples.panelStride = pairs() * kTilePanel;
        m_machine.simd->interleaveRows(samples);
    }

    void makeTaps(const RowProducts& products, const float* x, const float* dy, std::size_t row, std::size_t panel,
                  float* sums, float* dw) const {
        for (std::size_t tap = 0; tap < m_parts.size(); ++tap) {
            GemmRun run = tileRun(x + row * kTilePanel * pairs(), pairs(), dy + panel * kTilePanel * pairs(), pairs(),
                                  m_parts[tap]);
            run.c = sums;
            run.rows = kTilePanel;
            if (m_parts[tap].empty()) std::fill_n(sums, kTilePanel * kTilePanel, 0.0f);
            else products.multiply(run);
            const FilterSquare square{
                .row = row, .panel = panel, .tap = tap, .channels = m_x.channels, .taps = m_parts.size()};
            placeFilters(square, *m_machine.simd, sums, false, dw);
        }
    }

    const Machine& m_machine;
    Grid m_x, m_dy;
    Parts m_parts;  // of each tap
};

// y from x, or dx from dy, which is the same along links that are gone back.
std::unique_ptr<Kernel> makeImage(const Order& order, const Conv2dAttrs& attrs, bool isForward) {
    const Shape &read = order.input(0).type.shape, &w = order.input(1).type.shape, &made = order.output(0).type.shape;
    const Grid from(read), to(made);
    Parts parts(to.pixels);
    forEachLink(attrs, isForward ? read : made, w, isForward ? made : read, [&](const Link& link) {
        const std::size_t source = isForward ? link.from : link.to, target = isForward ? link.to : link.from;
        for (std::size_t pair = 0; pair < from.channels / 2; pair += kPairs)
            parts[target].push_back({(source * from.channels / 2 + pair) * from.samples,
                                     (link.tap * from.channels / 2 + pair) * kTilePanel});
    });
    return std::make_unique<ImageProduct>(order, from, to, std::move(parts));
}

}  // namespace

std::unique_ptr<Kernel> makeSampleConv(const Order& order) { return makeImage(order, convAttrs(order.node), true); }

std::unique_ptr<Kernel> makeSampleConvBackwardData(const Order& order) {
    return makeImage(order, order.node.attrs.as<Conv2dBackwardAttrs>().conv, false);
}

std::unique_ptr<Kernel> makeSampleConvBackwardWeights(const Order& order) {
    const Shape &x = order.input(0).type.shape, &dy = order.input(1).type.shape;
    const auto& [attrs, w] = order.node.attrs.as<Conv2dBackwardAttrs>();
    const Grid ofX(x), ofDy(dy);
    const std::size_t pairs = ofX.samples / 2;
    Parts parts(size(w[2] * w[3]));
    for (std::size_t group = 0; group < ofX.groups; ++group) {
        forEachLink(attrs, x, w, dy, [&](const Link& link) {
            parts[link.tap].push_back({(group * ofX.pixels + link.from) * ofX.channels * pairs,
                                       (group * ofDy.pixels + link.to) * ofDy.channels * pairs});
        });
    }
    return std::make_unique<WeightsProduct>(order, ofX, ofDy, std::move(parts));
}

}  // namespace lockstep::cpu
