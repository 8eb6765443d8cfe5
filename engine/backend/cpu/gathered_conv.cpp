#include <algorithm>
#include <array>
#include <map>

#include "engine/backend/cpu/conv_request.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/tile_conv.h"

// Convolutions of bf16 whose tiles have neighbouring pixels in their rows. What is multiplied is gathered first, so
// much at a time as stays in the cache: then strides cost nothing, padding is rows of zeros, any number of samples
// fills the tiles, and a tile is read from one place. An image's own rows are as far apart as it has channels, and of
// such rows a cache holds few beside each other.
namespace lockstep::cpu {

namespace {

constexpr std::size_t kStrip = TileEnd::kMostRows;  // pixels that are multiplied at once
constexpr std::size_t kPlace = 2 * kPairs;          // pixels that a tile is deep, where these are added up
constexpr std::size_t kImageBytes = 512 * 1024, kWeightsBytes = 1024 * 1024;  // gathered, of the second-level cache

constexpr std::int32_t kPadding = -1;

// Pixels of a sample that are made of the same pixels of the window, and for each of these what is read.
struct Targets {
    std::vector<std::size_t> taps;
    std::vector<std::size_t> pixels;
    std::vector<std::int32_t> sources;  // [pixel][tap]: a pixel of a sample, or kPadding
};

// All pixels of `made`, from `read`. With strides there are several kinds on the way back.
std::vector<Targets> targetsOf(const Conv2dAttrs& attrs, bool isForward, const Shape& read, const Shape& w,
                               const Shape& made) {
    std::map<std::vector<std::size_t>, Targets> kinds;
    for (std::int64_t pixel = 0; pixel < made[2] * made[3]; ++pixel) {
        Targets one;
        for (std::int64_t tap = 0; tap < w[2] * w[3]; ++tap) {
            const auto row = sourceOf(attrs, 0, isForward, pixel / made[3], tap / w[3]);
            const auto column = sourceOf(attrs, 1, isForward, pixel % made[3], tap % w[3]);
            if (!row || !column) continue;
            const bool isInside = *row >= 0 && *row < read[2] && *column >= 0 && *column < read[3];
            one.taps.push_back(size(tap));
            one.sources.push_back(isInside ? static_cast<std::int32_t>(*row * read[3] + *column) : kPadding);
        }
        Targets& kind = kinds[one.taps];
        kind.taps = one.taps;
        kind.pixels.push_back(size(pixel));
        kind.sources.insert(kind.sources.end(), one.sources.begin(), one.sources.end());
    }
    std::vector<Targets> all;
    for (auto& [taps, kind] : kinds) all.push_back(std::move(kind));
    return all;
}

// An image, channels last.
struct Image {
    std::size_t samples, pixels, channels;

    explicit Image(const Shape& shape)
        : samples(size(shape[0])), pixels(size(shape[2] * shape[3])), channels(size(shape[1])) {}
    template <class Pixel>
    std::size_t at(std::size_t sample, Pixel pixel) const {
        return (sample * pixels + static_cast<std::size_t>(pixel)) * channels;
    }
};

// Goes through the pixels of a kind, those of all samples one after the other.
class Walk {
public:
    Walk(std::size_t pixels, std::size_t first) : m_pixels(pixels), m_sample(first / pixels), m_index(first % pixels) {}
    std::size_t sample() const { return m_sample; }
    std::size_t index() const { return m_index; }  // of a pixel, among those of a sample
    void next() {
        if (++m_index < m_pixels) return;
        m_index = 0;
        ++m_sample;
    }

private:
    std::size_t m_pixels, m_sample, m_index;
};

// The pixels of one kind, those of all samples one after the other.
struct Kind {
    Targets targets;
    std::vector<GemmPart> parts;  // [tap][kPairs pairs of channels] of what is gathered, and of the weights

    std::size_t rows(const Image& image) const { return image.samples * targets.pixels.size(); }
};

// y from x, or dx from dy; the weights lie in panels (onednn::Desc::productPanels).
class GatheredImage final : public Kernel {
public:
    GatheredImage(const Order& order, const Conv2dAttrs& attrs, bool isForward)
        : m_machine(order.machine),
          m_from(order.input(0).type.shape),
          m_to(order.output(0).type.shape),
          m_panels(m_to.channels / kTilePanel),
          m_panelFloats(size(order.input(1).type.shape.count()) / m_panels / 2),
          m_end(order) {
        const Shape &read = order.input(0).type.shape, &w = order.input(1).type.shape;
        for (Targets& targets : targetsOf(attrs, isForward, read, w, order.output(0).type.shape)) {
            Kind kind{std::move(targets), {}};
            for (const std::size_t tap : kind.targets.taps) {
                for (std::size_t pair = 0; pair < m_from.channels / 2; pair += kPairs)
                    kind.parts.push_back(
                        {kind.parts.size() * kStrip * kPairs, (tap * m_from.channels / 2 + pair) * kTilePanel});
            }
            m_mostParts = std::max(m_mostParts, kind.parts.size());
            m_kinds.push_back(std::move(kind));
        }
    }

    std::size_t workspaceBytes() const override {
        return static_cast<std::size_t>(m_machine.threads) * roomFloats() * sizeof(float);
    }

    void run(const KernelCall& call) override {
        for (const Kind& kind : m_kinds) {
            const std::size_t strips = divideUp(kind.rows(m_to), kStrip);
            overStrips(m_machine, strips, stripsAtOnce(kind), m_panels,
                       [&](const RowProducts& products, Range some, Range panels, std::size_t part) {
                           make(call, products, kind, some, panels,
                                reinterpret_cast<float*>(call.workspace) + part * roomFloats());
                       });
        }
    }

private:
    static constexpr std::size_t kSums = kStrip * kTilePanel;

    static std::size_t stripFloats(std::size_t parts) { return parts * kStrip * kPairs; }
    // Weights that stay in the cache as a whole make all of a strip, whose pixels then are written as they lie. Of more
    // than that, each panel does for as many strips as stay there.
    std::size_t stripsAtOnce(const Kind& kind) const {
        const std::size_t weights = kind.parts.size() * kPairs * m_to.channels;
        if (weights * sizeof(float) <= kImageBytes) return 1;
        return std::max<std::size_t>(1, kImageBytes / sizeof(float) / stripFloats(kind.parts.size()));
    }
    std::size_t roomFloats() const { return kSums + std::max(stripFloats(m_mostParts), kImageBytes / sizeof(float)); }

    void make(const KernelCall& call, const RowProducts& products, const Kind& kind, Range strips, Range panels,
              float* room) const {
        float *const sums = room, *const gathered = room + kSums;
        const std::size_t floats = stripFloats(kind.parts.size());
        for (std::size_t strip = strips.begin; strip < strips.end; ++strip)
            gather(call, kind, strip, gathered + (strip - strips.begin) * floats);
        for (std::size_t panel = panels.begin; panel < panels.end; ++panel) {
            const float* weights = in(call, 1) + panel * m_panelFloats;
            for (std::size_t strip = strips.begin; strip < strips.end; ++strip) {
                const float* rows = gathered + (strip - strips.begin) * floats;
                multiply(products, kind, rows, weights, rowsOf(kind, strip), sums);
                write(call, kind, strip, panel, sums);
            }
        }
    }

    std::size_t rowsOf(const Kind& kind, std::size_t strip) const {
        return std::min(kStrip, kind.rows(m_to) - strip * kStrip);
    }

    // [tap][kPairs pairs of channels][pixel][pair]
    void gather(const KernelCall& call, const Kind& kind, std::size_t strip, float* to) const {
        const Targets& targets = kind.targets;
        const std::size_t pixels = targets.pixels.size(), taps = targets.taps.size(), deep = m_from.channels / kPlace;
        Walk walk(pixels, strip * kStrip);
        for (std::size_t n = 0; n < rowsOf(kind, strip); ++n, walk.next()) {
            for (std::size_t tap = 0; tap < taps; ++tap) {
                const auto source = targets.sources[walk.index() * taps + tap];
                float* const first = to + (tap * deep * kStrip + n) * kPairs;
                if (source != kPadding) {
                    m_machine.simd->copyRows(in(call, 0) + m_from.at(walk.sample(), source) / 2, kPairs, kPairs, first,
                                             kStrip * kPairs, deep);
                } else {
                    for (std::size_t i = 0; i < deep; ++i) std::fill_n(first + i * kStrip * kPairs, kPairs, 0.0f);
                }
            }
        }
    }

    static void multiply(const RowProducts& products, const Kind& kind, const float* rows, const float* weights,
                         std::size_t count, float* sums) {
        if (kind.parts.empty()) {
            std::fill_n(sums, count * kTilePanel, 0.0f);
            return;
        }
        GemmRun run = tileRun(rows, kPairs, weights, kPairs, kind.parts);
        run.c = sums;
        run.rows = roundUp(count, kPairs);
        products.multiply(run);
    }

    void write(const KernelCall& call, const Kind& kind, std::size_t strip, std::size_t panel, float* sums) const {
        const std::vector<std::size_t>& pixels = kind.targets.pixels;
        std::array<std::size_t, kStrip> at{};
        Walk walk(pixels.size(), strip * kStrip);
        for (std::size_t n = 0; n < rowsOf(kind, strip); ++n, walk.next())
            at[n] = m_to.at(walk.sample(), pixels[walk.index()]);
        m_end.write(call, panel * kTilePanel, sums, rowsOf(kind, strip), at.data());
    }

    const Machine& m_machine;
    Image m_from, m_to;
    std::size_t m_panels, m_panelFloats, m_mostParts = 0;
    std::vector<Kind> m_kinds;
    TileEnd m_end;
};

// dw from x and dy, whose pixels are added up: of both pairs of pixels are multiplied, of x for each pixel of the
// window those that it brings to the pixels of dy.
class GatheredWeights final : public Kernel {
public:
    explicit GatheredWeights(const Order& order)
        : m_machine(order.machine),
          m_x(order.input(0).type.shape),
          m_dy(order.input(1).type.shape),
          m_zeros(std::max(m_x.channels, m_dy.channels)) {
        const auto& [attrs, w] = order.node.attrs.as<Conv2dBackwardAttrs>();
        m_targets = std::move(targetsOf(attrs, true, order.input(0).type.shape, w, order.input(1).type.shape).front());
        // More at once where the gradient is larger, which is gone through each time.
        const std::size_t filterBytes = size(w.count()) * sizeof(float),
                          ofPlace = kPlace * (m_x.channels + m_dy.channels) * 2;
        m_placesAtOnce = std::clamp(std::max(kWeightsBytes, filterBytes) / ofPlace, std::size_t{1}, places());
        for (std::size_t place = 0; place < m_placesAtOnce; ++place)
            m_parts.push_back({place * m_x.channels * kPairs, place * m_dy.channels * kPairs});
    }

    std::size_t workspaceBytes() const override {
        return (m_placesAtOnce * (m_x.channels + m_dy.channels) * kPairs +
                static_cast<std::size_t>(m_machine.threads) * scratchFloats()) *
               sizeof(float);
    }

    void run(const KernelCall& call) override {
        for (std::size_t begin = 0; begin < places(); begin += m_placesAtOnce) {
            const Range range{begin, std::min(begin + m_placesAtOnce, places())};
            for (std::size_t tap = 0; tap < m_targets.taps.size(); ++tap) {
                gather(call, range, tap);
                multiply(call, range, tap);
            }
        }
    }

private:
    std::size_t pixels() const { return m_dy.samples * m_dy.pixels; }
    std::size_t places() const { return divideUp(pixels(), kPlace); }
    std::size_t scratchFloats() const { return std::max(kTilePanel * kTilePanel, kPairs * m_x.channels); }
    float* gatheredX(const KernelCall& call) const { return reinterpret_cast<float*>(call.workspace); }
    float* gatheredDy(const KernelCall& call) const { return gatheredX(call) + m_placesAtOnce * m_x.channels * kPairs; }
    float* scratch(const KernelCall& call, std::size_t part) const {
        return gatheredDy(call) + m_placesAtOnce * m_dy.channels * kPairs + part * scratchFloats();
    }

    // dy with the first of the taps.
    void gather(const KernelCall& call, Range range, std::size_t tap) const {
        inParts(m_machine.threads, range.end - range.begin, [&](std::size_t part, std::size_t begin, std::size_t end) {
            for (std::size_t place = begin; place < end; ++place) {
                const std::size_t first = (range.begin + place) * kPlace;
                gatherX(call, first, tap, scratch(call, part), gatheredX(call) + m_parts[place].a);
                if (tap == 0) gatherDy(call, first, gatheredDy(call) + m_parts[place].panel);
            }
        });
    }

    // [channel][pair of pixels]
    void gatherX(const KernelCall& call, std::size_t first, std::size_t tap, float* rows, float* to) const {
        std::array<const Bf16*, kPlace> from{};
        Walk walk(m_dy.pixels, first);
        for (std::size_t n = 0; n < kPlace; ++n, walk.next()) {
            const bool isThere = first + n < pixels();
            const auto source = isThere ? m_targets.sources[walk.index() * m_targets.taps.size() + tap] : kPadding;
            from[n] = source == kPadding ? m_zeros.data() : in<Bf16>(call, 0) + m_x.at(walk.sample(), source);
        }
        for (std::size_t n = 0; n < kPlace; n += 2)
            m_machine.simd->interleave(from[n], from[n + 1], rows + n / 2 * m_x.channels, m_x.channels);
        m_machine.simd->rowsToLanes(rows, m_x.channels, kPairs, to, kPairs, m_x.channels);
    }

    // [panel of filters][pair of pixels][filter]
    void gatherDy(const KernelCall& call, std::size_t first, float* to) const {
        const auto pixel = [&](std::size_t at) {
            return at < pixels() ? in<Bf16>(call, 1) + at * m_dy.channels : m_zeros.data();
        };
        for (std::size_t n = 0; n < kPlace; n += 2)
            m_machine.simd->interleaveRows({.even = pixel(first + n),
                                            .odd = pixel(first + n + 1),
                                            .count = 1,
                                            .columns = m_dy.channels,
                                            .to = to + n / 2 * kTilePanel,
                                            .panelStride = kPairs * kTilePanel});
    }

    void multiply(const KernelCall& call, Range range, std::size_t tap) const {
        const std::size_t rows = m_x.channels / kTilePanel, panels = m_dy.channels / kTilePanel;
        inParts(m_machine.threads, rows * panels, [&](std::size_t part, std::size_t begin, std::size_t end) {
            const RowProducts products(m_machine.gemmRows);
            float* const sums = scratch(call, part);
            for (std::size_t item = begin; item < end; ++item) {
                const FilterSquare square{.row = item % rows,
                                          .panel = item / rows,
                                          .tap = tap,
                                          .channels = m_x.channels,
                                          .taps = m_targets.taps.size()};
                GemmRun run = tileRun(gatheredX(call) + square.row * kTilePanel * kPairs, kPairs,
                                      gatheredDy(call) + square.panel * kTilePanel * kPairs, kPairs, m_parts);
                run.partCount = range.end - range.begin;
                run.c = sums;
                run.rows = kTilePanel;
                products.multiply(run);
                placeFilters(square, *m_machine.simd, sums, range.begin > 0, out(call, 0));
            }
        });
    }

    const Machine& m_machine;
    Image m_x, m_dy;
    std::vector<Bf16> m_zeros;  // a pixel of padding
    Targets m_targets;
    std::size_t m_placesAtOnce = 1;
    std::vector<GemmPart> m_parts;  // of each place
};

}  // namespace

std::unique_ptr<Kernel> makeGatheredConv(const Order& order) {
    return std::make_unique<GatheredImage>(order, convAttrs(order.node), true);
}

std::unique_ptr<Kernel> makeGatheredConvBackwardData(const Order& order) {
    return std::make_unique<GatheredImage>(order, order.node.attrs.as<Conv2dBackwardAttrs>().conv, false);
}

std::unique_ptr<Kernel> makeGatheredConvBackwardWeights(const Order& order) {
    return std::make_unique<GatheredWeights>(order);
}

}  // namespace lockstep::cpu
