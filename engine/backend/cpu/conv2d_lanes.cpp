#include <algorithm>

#include "engine/backend/cpu/conv_end.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/size.h"
#include "engine/ops/conv2d.h"

namespace lockstep::cpu {

namespace {

std::size_t whole(std::size_t floats) { return (floats + 15) / 16 * 16; }

// Sixteen samples of an image batch at a time, in lanes and with `left` columns of zeros before each row and as many
// behind it as bring it to `width`.
struct Groups {
    std::int64_t samples = 0, channels = 0, height = 0, columns = 0, left = 0, width = 0;
    bool isRowMajor = false;

    Groups(const Value& value, int padding, std::int64_t neededWidth)
        : samples(value.type.shape[0]),
          channels(value.type.shape[1]),
          height(value.type.shape[2]),
          columns(value.type.shape[3]),
          left(padding),
          width(std::max(columns + padding, neededWidth)),
          isRowMajor(!value.layout) {}

    std::size_t count() const { return size((samples + 15) / 16); }
    std::size_t floats() const { return size(channels * height * columns * 16); }  // of a group as it is stored
    bool isPadded() const { return width > columns; }
    std::size_t scratchFloats() const {
        return (isRowMajor ? floats() : 0) + (isPadded() ? size(channels * height * width * 16) : 0);
    }

    const float* take(const SimdTable& simd, const float* batch, std::size_t group, float* scratch) const {
        const float* lanes = batch + group * floats();
        if (isRowMajor) {
            const std::size_t elements = floats() / 16, rows = std::min<std::size_t>(16, size(samples) - group * 16);
            simd.rowsToLanes(lanes, elements, rows, scratch, 16, elements);
            lanes = scratch;
            scratch += floats();
        }
        return isPadded() ? pad(lanes, scratch) : lanes;
    }

private:
    const float* pad(const float* lanes, float* padded) const {
        float* to = padded;
        for (std::int64_t line = 0; line < channels * height; ++line, lanes += columns * 16) {
            to = std::fill_n(to, left * 16, 0.0f);
            to = std::copy_n(lanes, columns * 16, to);
            to = std::fill_n(to, (width - left - columns) * 16, 0.0f);
        }
        return padded;
    }
};

LaneConv laneConvOf(const Shape& x, const Shape& y, const Shape& w, std::array<int, 2> padding, std::int64_t width) {
    return {.channels = x[1],
            .height = x[2],
            .width = width,
            .outputs = y[1],
            .rows = y[2],
            .columns = y[3],
            .windowHeight = static_cast<int>(w[2]),
            .windowWidth = static_cast<int>(w[3]),
            .top = padding[0]};
}

std::int64_t neededWidth(const Shape& y, const Shape& w) { return y[3] - 1 + w[3]; }

// y from x, or dx from dy: the same sums with the weights turned round.
class LaneForward final : public Kernel {
public:
    LaneForward(const Order& order, const Value& x, const Value& y, const Shape& w, std::array<int, 2> padding,
                bool turned)
        : m_machine(order.machine),
          m_groups(x, padding[1], neededWidth(y.type.shape, w)),
          m_conv(laneConvOf(x.type.shape, y.type.shape, w, padding, m_groups.width)),
          m_weights(w),
          m_isTurned(turned),
          m_end(endOf(order.node)) {}

    std::size_t workspaceBytes() const override {
        const std::size_t scratch = whole(m_groups.scratchFloats()) * size(m_machine.threads);
        return (packedFloats() + scratch) * sizeof(float);
    }

    void run(const KernelCall& call) override {
        auto* packed = reinterpret_cast<float*>(call.workspace);
        pack(in(call, 1), packed);
        const float* bias = m_end.bias ? in(call, *m_end.bias) : nullptr;
        const std::size_t yFloats = size(m_conv.outputs * m_conv.rows * m_conv.columns * 16);
        inParts(m_machine.threads, m_groups.count(), [&](std::size_t part, std::size_t begin, std::size_t end) {
            float* scratch = packed + packedFloats() + part * whole(m_groups.scratchFloats());
            for (std::size_t group = begin; group < end; ++group) {
                const float* x = m_groups.take(*m_machine.simd, in(call, 0), group, scratch);
                m_machine.simd->laneConv(m_conv, x, packed, bias, m_end.clamp == Clamp::Relu,
                                         out(call, 0) + group * yFloats);
            }
        });
    }

private:
    std::size_t packedFloats() const { return whole(size(m_weights.count())); }

    // K,C,R,S as C,R,S,K for the loops; turned: as K,-R,-S,C.
    void pack(const float* weights, float* packed) const {
        const std::int64_t outputs = m_weights[0], channels = m_weights[1], window = m_weights[2] * m_weights[3];
        for (std::int64_t k = 0; k < outputs; ++k) {
            for (std::int64_t c = 0; c < channels; ++c) {
                for (std::int64_t tap = 0; tap < window; ++tap, ++weights) {
                    const std::int64_t to =
                        m_isTurned ? (k * window + window - 1 - tap) * channels + c : (c * window + tap) * outputs + k;
                    packed[to] = *weights;
                }
            }
        }
    }

    const Machine& m_machine;
    Groups m_groups;
    LaneConv m_conv;
    Shape m_weights;
    bool m_isTurned;
    ConvEnd m_end;
};

// Each part of the batch has sums of its own, with sixteen lanes; they are added up in their order.
class LaneBackwardWeights final : public Kernel {
public:
    LaneBackwardWeights(const Order& order, std::array<int, 2> padding)
        : m_machine(order.machine),
          m_weights(order.output(0).type.shape),
          m_groups(order.input(0), padding[1], neededWidth(order.input(1).type.shape, m_weights)),
          m_conv(laneConvOf(order.input(0).type.shape, order.input(1).type.shape, m_weights, padding, m_groups.width)),
          m_hasBias(order.node.outputs.size() == 2) {}

    std::size_t workspaceBytes() const override { return partFloats() * size(m_machine.threads) * sizeof(float); }

    void run(const KernelCall& call) override {
        auto* parts = reinterpret_cast<float*>(call.workspace);
        inParts(m_machine.threads, m_groups.count(), [&](std::size_t part, std::size_t begin, std::size_t end) {
            float* sums = parts + part * partFloats();
            std::fill_n(sums, sumFloats(), 0.0f);
            for (std::size_t group = begin; group < end; ++group) addGroup(call, group, sums);
        });
        addUp(parts, 0, m_weights.count(), out(call, 0));
        if (m_hasBias) addUp(parts, m_weights.count(), m_conv.outputs, out(call, 1));
    }

private:
    std::size_t sumFloats() const { return size((m_weights.count() + m_conv.outputs) * 16); }
    std::size_t partFloats() const { return sumFloats() + whole(m_groups.scratchFloats()); }

    void addGroup(const KernelCall& call, std::size_t group, float* sums) const {
        const std::int64_t pixels = m_conv.rows * m_conv.columns;
        const float* x = m_groups.take(*m_machine.simd, in(call, 0), group, sums + sumFloats());
        const float* dy = in(call, 1) + group * size(m_conv.outputs * pixels * 16);
        m_machine.simd->laneConvWeights(m_conv, x, dy, sums);
        float* bias = sums + m_weights.count() * 16;
        for (std::int64_t k = 0; m_hasBias && k < m_conv.outputs; ++k) {
            for (std::int64_t i = 0; i < pixels; ++i)
                m_machine.simd->floats.addRow(bias + k * 16, dy + (k * pixels + i) * 16, 16);
        }
    }

    void addUp(const float* parts, std::int64_t first, std::int64_t count, float* to) const {
        for (std::int64_t i = 0; i < count; ++i) {
            double sum = 0;
            for (std::size_t part = 0; part < size(m_machine.threads); ++part) {
                const float* lanes = parts + part * partFloats() + (first + i) * 16;
                for (int lane = 0; lane < 16; ++lane) sum += lanes[lane];
            }
            to[i] = static_cast<float>(sum);
        }
    }

    const Machine& m_machine;
    Shape m_weights;
    Groups m_groups;
    LaneConv m_conv;
    bool m_hasBias;
};

}  // namespace

std::unique_ptr<Kernel> makeLaneConv(const Order& order) {
    const auto& attrs = order.node.attrs.as<Conv2dAttrs>();
    return std::make_unique<LaneForward>(order, order.input(0), order.output(0), order.input(1).type.shape,
                                         attrs.padding, false);
}

std::unique_ptr<Kernel> makeLaneConvBackwardData(const Order& order) {
    const Conv2dAttrs& conv = order.node.attrs.as<Conv2dBackwardAttrs>().conv;
    const Shape& w = order.input(1).type.shape;
    const std::array<int, 2> padding{static_cast<int>(w[2]) - 1 - conv.padding[0],
                                     static_cast<int>(w[3]) - 1 - conv.padding[1]};
    return std::make_unique<LaneForward>(order, order.input(0), order.output(0), w, padding, true);
}

std::unique_ptr<Kernel> makeLaneConvBackwardWeights(const Order& order) {
    const Conv2dAttrs& conv = order.node.attrs.as<Conv2dBackwardAttrs>().conv;
    return std::make_unique<LaneBackwardWeights>(order, conv.padding);
}

}  // namespace lockstep::cpu
