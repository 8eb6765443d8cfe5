#include "engine/backend/cpu/joined_conv.h"

#include <algorithm>
#include <array>

#include "engine/backend/cpu/conv_choice.h"
#include "engine/backend/cpu/conv_end.h"
#include "engine/backend/cpu/conv_request.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/tile_conv.h"

namespace lockstep::cpu {

namespace {

using onednn::Desc;

constexpr std::int64_t kMostPixels = 4;  // more are mostly zeros
constexpr std::size_t kBf16Block = 16;   // channels, of which images of bf16 have whole blocks

bool isWhole(std::int64_t channels) { return channels % static_cast<std::int64_t>(kTilePanel) == 0; }

std::int64_t floorDiv(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

}  // namespace

std::optional<JoinedConv> joinedConv(const Conv2dAttrs& attrs, const Shape& x, const Shape& w, const Shape& y) {
    const std::int64_t stride = attrs.stride[1], padding = attrs.padding[1];
    const bool areBlocks = size(w[0]) % kBf16Block == 0 && size(w[1]) % kBf16Block == 0;
    if (!areBlocks || (isWhole(w[0]) && isWhole(w[1]))) return std::nullopt;
    if (attrs.groups != 1 || attrs.dilation[1] != 1) return std::nullopt;
    JoinedConv joined{.attrs = attrs};
    std::int64_t &ofX = joined.pixelsOfX, &ofY = joined.pixelsOfY;
    const auto areWhole = [&] { return isWhole(ofX * w[1]) && isWhole(ofY * w[0]); };
    for (ofX = stride; ofX < kMostPixels && !areWhole(); ofX *= 2) ofY *= 2;
    if (!areWhole() || x[2] * x[3] % ofX != 0 || y[2] * y[3] % ofY != 0) return std::nullopt;
    if (isPixelwise(attrs, w)) {  // whose pixels know no rows
        joined.x = {x[0], ofX * x[1], 1, x[2] * x[3] / ofX};
        joined.w = {ofY * w[0], ofX * w[1], 1, 1};
        joined.y = {y[0], ofY * y[1], 1, y[2] * y[3] / ofY};
        return joined;
    }
    const std::int64_t before = (padding + ofX - 1) / ofX,
                       behind = floorDiv(stride * (ofY - 1) + w[3] - 1 - padding, ofX);
    if (x[3] % ofX != 0 || y[3] % ofY != 0 || x[3] / ofX != y[3] / ofY || behind > before) return std::nullopt;
    joined.attrs.stride[1] = 1;
    joined.attrs.padding[1] = static_cast<int>(before);
    joined.x = {x[0], ofX * x[1], x[2], x[3] / ofX};
    joined.w = {ofY * w[0], ofX * w[1], w[2], 2 * before + 1};
    joined.y = {y[0], ofY * y[1], y[2], y[3] / ofY};
    return joined;
}

namespace {

// From filters, row-major, to those of the joined convolution, in blocks of 16 channels and 16 filters; and back.
class JoinedFilters {
public:
    JoinedFilters(const Conv2dAttrs& attrs, const Shape& w, const JoinedConv& joined)
        : m_filters(size(w[0])),
          m_channels(size(w[1])),
          m_taps(size(w[2] * w[3])),
          m_blocks(size(joined.w[1]) / kBf16Block),
          m_joinedTaps(size(joined.w[2] * joined.w[3])),
          m_joined(size(joined.w.count())) {
        for (std::int64_t pixel = 0; pixel < joined.pixelsOfY; ++pixel) {
            for (std::int64_t tap = 0; tap < w[2] * w[3]; ++tap) {
                const std::int64_t column = pixel * attrs.stride[1] + tap % w[3] - attrs.padding[1];
                const std::int64_t pixels = floorDiv(column, joined.pixelsOfX);
                const std::int64_t joinedTap = tap / w[3] * joined.w[3] + pixels + joined.attrs.padding[1];
                m_links.push_back({.filter = size(pixel * w[0]),
                                   .channel = size((column - pixels * joined.pixelsOfX) * w[1]),
                                   .tap = size(tap),
                                   .joinedTap = size(joinedTap)});
            }
        }
    }

    std::size_t joined() const { return m_joined; }  // elements

    void join(const Machine& machine, const float* w, float* joined) const {
        std::fill_n(joined, m_joined, 0.0f);
        eachPlace(machine, [&](std::size_t i, std::size_t j) { joined[j] = w[i]; });
    }

    void addUp(const Machine& machine, const float* joined, float* w) const {
        std::fill_n(w, m_filters * m_channels * m_taps, 0.0f);
        eachPlace(machine, [&](std::size_t i, std::size_t j) { w[i] += joined[j]; });
    }

private:
    // Of a pixel of the window for one of those of y that are joined: where its filters and channels begin.
    struct Link {
        std::size_t filter, channel, tap, joinedTap;
    };

    std::size_t placeOf(std::size_t filter, std::size_t channel, std::size_t tap) const {
        const std::size_t block = (filter / kBf16Block * m_blocks + channel / kBf16Block) * m_joinedTaps + tap;
        return (block * kBf16Block + channel % kBf16Block) * kBf16Block + filter % kBf16Block;
    }

    // body(element, joined element)
    template <class Body>
    void eachPlace(const Machine& machine, Body body) const {
        inParallel(machine.threads, m_filters, m_joined, [&](std::size_t begin, std::size_t end) {
            for (std::size_t filter = begin; filter < end; ++filter) {
                for (const Link& link : m_links) {
                    for (std::size_t channel = 0; channel < m_channels; ++channel)
                        body((filter * m_channels + channel) * m_taps + link.tap,
                             placeOf(link.filter + filter, link.channel + channel, link.joinedTap));
                }
            }
        });
    }

    std::size_t m_filters, m_channels, m_taps;
    std::size_t m_blocks, m_joinedTaps, m_joined;  // of the joined filters: blocks of channels, taps, elements
    std::vector<Link> m_links;
};

std::size_t wholeLines(std::size_t floats) { return roundUp(floats, std::size_t{16}); }

std::unique_ptr<Kernel> makeConvolution(const Order& order) {
    if (isForwardConv(order.node)) return makeConv2d(order);
    return order.node.op == &kConv2dBackwardData ? makeConv2dBackwardData(order) : makeConv2dBackwardWeights(order);
}

Attrs attrsOf(const Node& node, const JoinedConv& joined) {
    if (!isForwardConv(node)) {
        const bool isData = node.op == &kConv2dBackwardData;
        return Attrs::of(Conv2dBackwardAttrs{joined.attrs, isData ? joined.x : joined.w});
    }
    if (node.op == &kConv2d || node.op == &kConv2dRelu) return Attrs::of(joined.attrs);
    auto attrs = node.attrs.as<FoldedConvAttrs>();
    attrs.conv = joined.attrs;
    return Attrs::of(attrs);
}

// The joined convolution alone, with as many inputs as the node has. That of an image is behind a node that packs the
// filters for it.
Graph graphOf(const Order& order, const JoinedConv& joined) {
    const Node& node = order.node;
    Graph graph;
    const auto valueOf = [](const Desc& desc) {
        return Value{.type = {Shape(std::span<const std::int64_t>(desc.dims())), desc.dtype()},
                     .layout = layoutOf(desc, "nchw")};
    };
    const auto input = [&](const Desc& desc) {
        const Value value = valueOf(desc);
        const ValueId id = graph.addInput("value" + std::to_string(graph.values().size()), value.type);
        graph.setLayout(id, value.layout);
        return id;
    };
    const auto append = [&](const OpDef& op, std::vector<ValueId> inputs, std::string algorithm, const Desc& made) {
        Attrs attrs = &op == &kReorder ? Attrs() : attrsOf(node, joined);
        return graph
            .appendLowered({&op, std::move(inputs), {}, std::move(attrs), node.scope, std::move(algorithm)},
                           {valueOf(made)})
            .front();
    };
    const Desc x = Desc::channelsLast(joined.x.dims(), DType::BF16),
               y = Desc::channelsLast(joined.y.dims(), DType::BF16);
    const Desc filters = Desc::blockedFilters(joined.w.dims(), 16, DType::F32);
    const char* const algorithm = suitsPadded(joined.attrs, joined.x, joined.w) ? kPaddedBf16 : kGatheredBf16;
    const bool isForward = isForwardConv(node);
    if (!isForward && node.op != &kConv2dBackwardData) {
        append(kConv2dBackwardWeights, {input(x), input(y)}, algorithm, filters);
        return graph;
    }
    const Desc panels = Desc::productPanels(joined.w.dims(), isForward ? 0 : 1);
    std::vector<ValueId> inputs{input(isForward ? x : y), append(kReorder, {input(filters)}, "jit", panels)};
    for (std::size_t i = 2; i < node.inputs.size(); ++i)
        inputs.push_back(input(i == endOf(node).addend ? y : Desc::rowMajor({&joined.y.dims()[1], 1}, DType::F32)));
    append(*node.op, std::move(inputs), algorithm, isForward ? y : x);
    return graph;
}

// y from x, or dx from dy. What there is for each channel is repeated for each pixel.
class JoinedImage final : public Kernel {
public:
    JoinedImage(const Order& order, const Conv2dAttrs& attrs, const JoinedConv& joined)
        : m_machine(order.machine),
          m_graph(graphOf(order, joined)),
          m_filters(attrs, order.input(1).type.shape, joined),
          m_pack(makeReorder({m_machine, m_graph, m_graph.nodes()[0]})),
          m_convolution(makeConvolution({m_machine, m_graph, m_graph.nodes()[1]})),
          m_addend(endOf(order.node).addend),
          m_channels(size(order.output(0).type.shape[1])),
          m_pixels(size(joined.pixelsOfY)) {}

    std::size_t workspaceBytes() const override {
        return (filterFloats() + panelFloats() + kMostInputs * vectorFloats()) * sizeof(float) +
               std::max(m_pack->workspaceBytes(), m_convolution->workspaceBytes());
    }

    void run(const KernelCall& call) override {
        auto* const filters = reinterpret_cast<float*>(call.workspace);
        float *const panels = filters + filterFloats(), *vector = panels + panelFloats();
        auto* const room = reinterpret_cast<std::byte*>(vector + kMostInputs * vectorFloats());
        m_filters.join(m_machine, in(call, 1), filters);
        const std::array packed{reinterpret_cast<std::byte*>(filters)}, made{reinterpret_cast<std::byte*>(panels)};
        m_pack->run({packed, made, room, call.scalars, call.stream});
        std::array<std::byte*, kMostInputs> inputs{call.inputs[0], made[0]};
        for (std::size_t i = 2; i < call.inputs.size(); ++i) {
            inputs[i] = call.inputs[i];
            if (i == m_addend) continue;
            for (std::size_t pixel = 0; pixel < m_pixels; ++pixel)
                std::copy_n(in(call, i), m_channels, vector + pixel * m_channels);
            inputs[i] = reinterpret_cast<std::byte*>(vector);
            vector += vectorFloats();
        }
        m_convolution->run(
            {std::span(inputs).first(call.inputs.size()), call.outputs, room, call.scalars, call.stream});
    }

private:
    static constexpr std::size_t kMostInputs = 5;  // a folded convolution's

    std::size_t filterFloats() const { return wholeLines(m_filters.joined()); }
    std::size_t panelFloats() const { return wholeLines(m_filters.joined() / 2); }
    std::size_t vectorFloats() const { return wholeLines(m_pixels * m_channels); }

    const Machine& m_machine;
    Graph m_graph;
    JoinedFilters m_filters;
    std::unique_ptr<Kernel> m_pack, m_convolution;
    std::optional<std::size_t> m_addend;
    std::size_t m_channels, m_pixels;
};

class JoinedWeights final : public Kernel {
public:
    JoinedWeights(const Order& order, const Conv2dAttrs& attrs, const JoinedConv& joined)
        : m_machine(order.machine),
          m_graph(graphOf(order, joined)),
          m_filters(attrs, order.output(0).type.shape, joined),
          m_convolution(makeConvolution({m_machine, m_graph, m_graph.nodes()[0]})) {}

    std::size_t workspaceBytes() const override {
        return wholeLines(m_filters.joined()) * sizeof(float) + m_convolution->workspaceBytes();
    }

    void run(const KernelCall& call) override {
        auto* const sums = reinterpret_cast<float*>(call.workspace);
        const std::array made{call.workspace};
        std::byte* const room = call.workspace + wholeLines(m_filters.joined()) * sizeof(float);
        m_convolution->run({call.inputs.first(2), made, room, call.scalars, call.stream});
        m_filters.addUp(m_machine, sums, out(call, 0));
    }

private:
    const Machine& m_machine;
    Graph m_graph;
    JoinedFilters m_filters;
    std::unique_ptr<Kernel> m_convolution;
};

}  // namespace

std::unique_ptr<Kernel> makeJoinedConv(const Order& order) {
    const Conv2dAttrs& attrs = convAttrs(order.node);
    const auto joined =
        joinedConv(attrs, order.input(0).type.shape, order.input(1).type.shape, order.output(0).type.shape);
    return std::make_unique<JoinedImage>(order, attrs, *joined);
}

std::unique_ptr<Kernel> makeJoinedConvBackwardData(const Order& order) {
    const auto& [attrs, x] = order.node.attrs.as<Conv2dBackwardAttrs>();
    const auto joined = joinedConv(attrs, x, order.input(1).type.shape, order.input(0).type.shape);
    return std::make_unique<JoinedImage>(order, attrs, *joined);
}

std::unique_ptr<Kernel> makeJoinedConvBackwardWeights(const Order& order) {
    const auto& [attrs, w] = order.node.attrs.as<Conv2dBackwardAttrs>();
    const auto joined = joinedConv(attrs, order.input(0).type.shape, w, order.input(1).type.shape);
    return std::make_unique<JoinedWeights>(order, attrs, *joined);
}

}  // namespace lockstep::cpu
