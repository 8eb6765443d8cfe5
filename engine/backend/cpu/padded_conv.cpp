#include <algorithm>
#include <array>
#include <optional>

#include "engine/backend/cpu/conv_request.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/tile_conv.h"

// Convolutions of bf16 without strides whose tiles have neighbouring pixels in their rows. The pixels of all samples
// lie in one line, with zeros behind each row and behind each sample as far as the window reaches. Then what a pixel of
// the window brings is equally far along the line for all of them, and any sixteen that follow each other are a tile:
// each pixel is copied once, however many the window has, and what is made of zeros' places is left out.
namespace lockstep::cpu {

namespace {

constexpr std::size_t kStrip = TileEnd::kMostRows;  // places in the line that are made at once
constexpr std::size_t kDeep = 2 * kPairs;           // places that a tile is deep, where these are added up
constexpr std::size_t kImageBytes = 512 * 1024, kWeightsBytes = 1024 * 1024;  // of the line, in the second-level cache

std::size_t odd(std::size_t count) { return count | 1; }  // what is so far apart meets in no set of a cache

struct Extent {
    std::int64_t rows, columns;
    explicit Extent(const Shape& image) : rows(image[2]), columns(image[3]) {}
};

// Where pixels lie that are read and where those lie that are made, at the same places of one line.
class Line {
public:
    Line(const Conv2dAttrs& attrs, bool isForward, const Shape& read, const Shape& w, const Shape& made)
        : m_read(read), m_made(made), m_samples(read[0]) {
        // As far before the first pixel as behind the last.
        const auto reach = [&](std::size_t axis) {
            const std::int64_t padding = attrs.padding[axis];
            return isForward ? padding : (w[2 + axis] - 1) * attrs.dilation[axis] - padding;
        };
        m_rows = m_read.rows + reach(0);
        m_columns = m_read.columns + reach(1);
        for (std::int64_t tap = 0; tap < w[2] * w[3]; ++tap) {
            const std::int64_t row = tap / w[3] * attrs.dilation[0] - attrs.padding[0],
                               column = tap % w[3] * attrs.dilation[1] - attrs.padding[1];
            m_offsets.push_back((row * m_columns + column) * (isForward ? 1 : -1));
        }
        m_least = std::ranges::min(m_offsets);
        m_most = std::ranges::max(m_offsets);
    }

    // Places of pixels that are made, and of zeros between them.
    std::size_t count() const { return size(m_samples * m_rows * m_columns); }
    std::size_t taps() const { return m_offsets.size(); }
    // Where the first of what a strip reads is, from its own first place; what a tap reads, from there.
    std::int64_t before() const { return m_least; }
    std::size_t offset(std::size_t tap) const { return size(m_offsets[tap] - m_least); }
    std::size_t around() const { return size(m_most - m_least); }  // places more than are made

    const Extent& read() const { return m_read; }
    const Extent& made() const { return m_made; }

    // Places that follow each other: of pixels, the first of which is this among those of all samples, or of zeros.
    struct Stretch {
        std::optional<std::size_t> pixel;
        std::size_t places;
    };
    // Goes along the line, whose pixels are those of one of both images.
    class Walk {
    public:
        Walk(const Line& line, std::int64_t place, const Extent& image) : m_line(line), m_image(image) {
            const std::int64_t perSample = line.m_rows * line.m_columns;
            m_sample = place >= 0 ? place / perSample : -((perSample - 1 - place) / perSample);
            place -= m_sample * perSample;
            m_row = place / line.m_columns;
            m_column = place % line.m_columns;
        }
        // From here to the end of the row at most.
        Stretch stretch() const {
            const bool isRow = m_sample >= 0 && m_sample < m_line.m_samples && m_row < m_image.rows;
            if (!isRow || m_column >= m_image.columns) return {std::nullopt, size(m_line.m_columns - m_column)};
            return {size((m_sample * m_image.rows + m_row) * m_image.columns + m_column),
                    size(m_image.columns - m_column)};
        }
        // No further than the end of the row.
        void skip(std::size_t places) {
            m_column += static_cast<std::int64_t>(places);
            if (m_column < m_line.m_columns) return;
            m_column = 0;
            if (++m_row < m_line.m_rows) return;
            m_row = 0;
            ++m_sample;
        }

    private:
        const Line& m_line;
        const Extent& m_image;
        std::int64_t m_sample, m_row, m_column;
    };

private:
    Extent m_read, m_made;
    std::int64_t m_samples, m_rows, m_columns, m_least, m_most;  // rows and columns: with zeros
    std::vector<std::int64_t> m_offsets;                         // of each tap
};

// y from x, or dx from dy; the weights lie in panels (onednn::Desc::productPanels).
class PaddedImage final : public Kernel {
public:
    PaddedImage(const Order& order, const Conv2dAttrs& attrs, bool isForward)
        : m_machine(order.machine),
          m_line(attrs, isForward, order.input(0).type.shape, order.input(1).type.shape, order.output(0).type.shape),
          m_from(size(order.input(0).type.shape[1])),
          m_to(size(order.output(0).type.shape[1])),
          m_panelFloats(size(order.input(1).type.shape.count()) / (m_to / kTilePanel) / 2),
          m_end(order) {
        const std::size_t placesInCache = kImageBytes / (m_from * sizeof(Bf16)), around = m_line.around();
        m_atOnce = std::clamp(placesInCache > around ? (placesInCache - around) / kStrip : 0, std::size_t{1}, strips());
        m_places = odd(m_atOnce * kStrip + around);
        // The taps of a block of channels one after the other: they read the same places.
        for (std::size_t pair = 0; pair < m_from / 2; pair += kPairs) {
            for (std::size_t tap = 0; tap < m_line.taps(); ++tap)
                m_parts.push_back(
                    {pair * m_places + m_line.offset(tap) * kPairs, (tap * m_from / 2 + pair) * kTilePanel});
        }
    }

    std::size_t workspaceBytes() const override {
        return static_cast<std::size_t>(m_machine.threads) * roomFloats() * sizeof(float);
    }

    void run(const KernelCall& call) override {
        overStrips(m_machine, strips(), m_atOnce, panels(),
                   [&](const RowProducts& products, Range some, Range columns, std::size_t part) {
                       make(call, products, some, columns,
                            reinterpret_cast<float*>(call.workspace) + part * roomFloats());
                   });
    }

private:
    static constexpr std::size_t kSums = kStrip * kTilePanel;

    std::size_t strips() const { return divideUp(m_line.count(), kStrip); }
    std::size_t panels() const { return m_to / kTilePanel; }
    std::size_t roomFloats() const { return kSums + m_places * m_from / 2; }
    std::size_t end(std::size_t strip) const { return std::min((strip + 1) * kStrip, m_line.count()); }

    void make(const KernelCall& call, const RowProducts& products, Range strips, Range panels, float* room) const {
        float *const sums = room, *const line = room + kSums;
        gather(call, strips, line);
        const auto makeOne = [&](std::size_t strip, std::size_t panel) {
            GemmRun run = tileRun(line + (strip - strips.begin) * kStrip * kPairs, kPairs,
                                  in(call, 1) + panel * m_panelFloats, kPairs, m_parts);
            run.c = sums;
            run.rows = roundUp(end(strip) - strip * kStrip, kPairs);
            products.multiply(run);
            write(call, strip, panel, sums);
        };
        // Weights that stay in the cache as a whole make all of a strip, whose pixels then are written as they lie.
        const bool areFew = panels.end * m_panelFloats * sizeof(float) <= kImageBytes;
        if (areFew) {
            for (std::size_t strip = strips.begin; strip < strips.end; ++strip) {
                for (std::size_t panel = panels.begin; panel < panels.end; ++panel) makeOne(strip, panel);
            }
        } else {
            for (std::size_t panel = panels.begin; panel < panels.end; ++panel) {
                for (std::size_t strip = strips.begin; strip < strips.end; ++strip) makeOne(strip, panel);
            }
        }
    }

    // [kPairs pairs of channels][place][pair]
    void gather(const KernelCall& call, Range strips, float* to) const {
        const std::size_t first = strips.begin * kStrip, count = end(strips.end - 1) - first + m_line.around();
        Line::Walk walk(m_line, static_cast<std::int64_t>(first) + m_line.before(), m_line.read());
        for (std::size_t n = 0; n < count;) {
            const auto [pixel, places] = walk.stretch();
            const std::size_t some = std::min(places, count - n);
            put(pixel ? in(call, 0) + *pixel * m_from / 2 : nullptr, some, to + n * kPairs);
            walk.skip(some);
            n += some;
        }
    }

    // Neighbouring pixels, or zeros.
    void put(const float* pixels, std::size_t count, float* to) const {
        const std::size_t deep = m_from / kDeep, apart = m_places * kPairs;
        if (pixels && deep > count) {
            for (std::size_t n = 0; n < count; ++n)
                m_machine.simd->copyRows(pixels + n * m_from / 2, kPairs, kPairs, to + n * kPairs, apart, deep);
            return;
        }
        for (std::size_t i = 0; i < deep; ++i, to += apart) {
            if (pixels) m_machine.simd->copyRows(pixels + i * kPairs, m_from / 2, kPairs, to, kPairs, count);
            else std::fill_n(to, count * kPairs, 0.0f);
        }
    }

    void write(const KernelCall& call, std::size_t strip, std::size_t panel, float* sums) const {
        std::array<std::size_t, kStrip> at{};
        Line::Walk walk(m_line, static_cast<std::int64_t>(strip * kStrip), m_line.made());
        for (std::size_t n = 0, count = end(strip) - strip * kStrip; n < count;) {
            const auto [pixel, places] = walk.stretch();
            const std::size_t some = std::min(places, count - n);
            for (std::size_t i = 0; pixel && i < some; ++i) at[i] = (*pixel + i) * m_to;
            if (pixel) m_end.write(call, panel * kTilePanel, sums + n * kTilePanel, some, at.data());
            walk.skip(some);
            n += some;
        }
    }

    const Machine& m_machine;
    Line m_line;
    std::size_t m_from, m_to;  // channels
    std::size_t m_panelFloats, m_atOnce, m_places = 0;
    std::vector<GemmPart> m_parts;
    TileEnd m_end;
};

// dw from x and dy, whose places are added up, two at a time. Rows of tiles are filters, for which dy is turned; x is
// there twice, with pairs that begin at even and at odd places, one of which a tap's are.
class PaddedWeights final : public Kernel {
public:
    explicit PaddedWeights(const Order& order)
        : m_machine(order.machine),
          m_line(order.node.attrs.as<Conv2dBackwardAttrs>().conv, true, order.input(0).type.shape,
                 order.node.attrs.as<Conv2dBackwardAttrs>().shape, order.input(1).type.shape),
          m_x(size(order.input(0).type.shape[1])),
          m_dy(size(order.input(1).type.shape[1])),
          m_zeros(std::max(m_x, m_dy)) {
        // More at once where the gradient is larger, which is gone through each time.
        const std::size_t filterBytes = m_x * m_dy * m_line.taps() * sizeof(float);
        const std::size_t ofDeep = kDeep * (2 * m_x + m_dy) * sizeof(Bf16);
        m_atOnce = std::clamp(std::max(kWeightsBytes, filterBytes) / ofDeep, std::size_t{1}, deeps());
        m_rows = odd(m_atOnce * kPairs + m_line.around() / 2);
        for (std::size_t i = 0; i < m_atOnce; ++i)
            m_parts.push_back({i * kTilePanel * kPairs, i * kPairs * kTilePanel});
    }

    std::size_t workspaceBytes() const override {
        return (m_atOnce * m_dy * kPairs + 2 * phaseFloats() +
                static_cast<std::size_t>(m_machine.threads) * scratchFloats()) *
               sizeof(float);
    }

    void run(const KernelCall& call) override {
        for (std::size_t begin = 0; begin < deeps(); begin += m_atOnce) {
            const Range range{begin, std::min(begin + m_atOnce, deeps())};
            gatherX(call, range);
            turnDy(call, range);
            multiply(call, range);
        }
    }

private:
    static constexpr std::size_t kSquare = kTilePanel * kTilePanel;
    static constexpr std::size_t kNear = 8;  // times kDeep places

    std::size_t deeps() const { return divideUp(m_line.count(), kDeep); }
    std::size_t phaseFloats() const { return m_rows * m_x; }
    std::size_t scratchFloats() const { return std::max((m_line.taps() + 1) * kSquare, kPairs * m_dy); }
    float* turned(const KernelCall& call) const { return reinterpret_cast<float*>(call.workspace); }
    float* turnedRow(const KernelCall& call, std::size_t row) const {
        return turned(call) + row * m_atOnce * kTilePanel * kPairs;
    }
    float* phase(const KernelCall& call, std::size_t which) const {
        return turned(call) + m_atOnce * m_dy * kPairs + which * phaseFloats();
    }
    float* scratch(const KernelCall& call, std::size_t part) const { return phase(call, 2) + part * scratchFloats(); }

    // [panel of channels][pair of places][channel], twice
    void gatherX(const KernelCall& call, Range range) const {
        const std::int64_t first = static_cast<std::int64_t>(range.begin * kDeep) + m_line.before();
        const std::size_t rows = (range.end - range.begin) * kPairs + m_line.around() / 2;
        inParts(m_machine.threads, rows, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (const std::size_t which : {0, 1}) {
                pair({.even = in<Bf16>(call, 0),
                      .columns = m_x,
                      .to = phase(call, which) + begin * kTilePanel,
                      .rowStride = kTilePanel,
                      .panelStride = m_rows * kTilePanel},
                     end - begin,
                     Line::Walk(m_line, first + static_cast<std::int64_t>(which + 2 * begin), m_line.read()));
            }
        });
    }

    // [kTilePanel filters][kDeep places][filter][pair of places]
    void turnDy(const KernelCall& call, Range range) const {
        inParts(m_machine.threads, range.end - range.begin, [&](std::size_t part, std::size_t begin, std::size_t end) {
            float* const rows = scratch(call, part);
            for (std::size_t i = begin; i < end; ++i) {
                const auto first = static_cast<std::int64_t>((range.begin + i) * kDeep);
                pair({.even = in<Bf16>(call, 1),
                      .columns = m_dy,
                      .to = rows,
                      .rowStride = m_dy,
                      .panelStride = kTilePanel},
                     kPairs, Line::Walk(m_line, first, m_line.made()));
                for (std::size_t filter = 0; filter < m_dy; filter += kTilePanel)
                    m_machine.simd->rowsToLanes(rows + filter, m_dy, kPairs,
                                                turnedRow(call, filter / kTilePanel) + m_parts[i].a, kPairs,
                                                kTilePanel);
            }
        });
    }

    // `count` pairs of places from where the walk is; rows.even is the image, whose rows are pixels.
    void pair(PairedRows rows, std::size_t count, Line::Walk walk) const {
        const Bf16* const image = rows.even;
        const auto here = [&](const Line::Stretch& at) {
            return at.pixel ? image + *at.pixel * rows.columns : m_zeros.data();
        };
        while (count > 0) {
            const Line::Stretch stretch = walk.stretch();
            rows.even = here(stretch);
            rows.count = stretch.pixel ? std::min(stretch.places / 2, count) : 0;
            rows.stride = 2 * rows.columns;
            if (rows.count > 0) {
                rows.odd = rows.even + rows.columns;
                walk.skip(2 * rows.count);
            } else {
                rows.count = 1;
                walk.skip(1);
                rows.odd = here(walk.stretch());
                walk.skip(1);
            }
            m_machine.simd->interleaveRows(rows);
            rows.to += rows.count * rows.rowStride;
            count -= rows.count;
        }
    }

    void multiply(const KernelCall& call, Range range) const {
        const std::size_t rows = m_dy / kTilePanel, panels = m_x / kTilePanel, taps = m_line.taps();
        inParts(m_machine.threads, rows * panels, [&](std::size_t part, std::size_t begin, std::size_t end) {
            const RowProducts products(m_machine.gemmRows);
            float *const sums = scratch(call, part), *const back = sums + taps * kSquare;
            for (std::size_t item = begin; item < end; ++item) {
                const std::size_t row = item % rows, panel = item / rows;
                sumTaps(call, products, range.end - range.begin, row, panel, sums);
                for (std::size_t tap = 0; tap < taps; ++tap) {
                    turnSquare(sums + tap * kSquare, back);
                    const FilterSquare square{.row = panel, .panel = row, .tap = tap, .channels = m_x, .taps = taps};
                    placeFilters(square, *m_machine.simd, back, range.begin > 0, out(call, 0));
                }
            }
        });
    }

    // A square of each tap. All of them go through a few of what is multiplied before the next, which then are near.
    void sumTaps(const KernelCall& call, const RowProducts& products, std::size_t count, std::size_t row,
                 std::size_t panel, float* sums) const {
        for (std::size_t begin = 0; begin < count; begin += kNear) {
            for (std::size_t tap = 0; tap < m_line.taps(); ++tap) {
                const std::size_t offset = m_line.offset(tap), at = panel * m_rows + offset / 2;
                GemmRun run =
                    tileRun(turnedRow(call, row) + m_parts[begin].a, kPairs,
                            phase(call, offset % 2) + m_parts[begin].panel + at * kTilePanel, kPairs, m_parts);
                run.partCount = std::min(count - begin, kNear);
                run.c = sums + tap * kSquare;
                run.rows = kTilePanel;
                run.adds = begin > 0;
                products.multiply(run);
            }
        }
    }

    void turnSquare(const float* sums, float* to) const {
        for (std::size_t half = 0; half < kTilePanel; half += kPairs)
            m_machine.simd->rowsToLanes(sums + half * kTilePanel, kTilePanel, kPairs, to + half, kTilePanel,
                                        kTilePanel);
    }

    const Machine& m_machine;
    Line m_line;
    std::size_t m_x, m_dy;      // channels
    std::vector<Bf16> m_zeros;  // a pixel of padding
    std::size_t m_atOnce = 1, m_rows = 0;
    std::vector<GemmPart> m_parts;  // of kDeep places each
};

}  // namespace

std::unique_ptr<Kernel> makePaddedConv(const Order& order) {
    return std::make_unique<PaddedImage>(order, convAttrs(order.node), true);
}

std::unique_ptr<Kernel> makePaddedConvBackwardData(const Order& order) {
    return std::make_unique<PaddedImage>(order, order.node.attrs.as<Conv2dBackwardAttrs>().conv, false);
}

std::unique_ptr<Kernel> makePaddedConvBackwardWeights(const Order& order) {
    return std::make_unique<PaddedWeights>(order);
}

}  // namespace lockstep::cpu
