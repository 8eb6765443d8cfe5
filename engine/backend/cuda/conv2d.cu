#include "engine/ops/conv2d.h"

#include "engine/backend/cuda/algorithm_names.h"
#include "engine/backend/cuda/convolution_kernel.h"
#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/grid.h"
#include "engine/backend/cuda/image.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/real.h"
#include "engine/backend/fusion/fused_ops.h"
#include "engine/core/precision.h"

namespace lockstep::cuda {

namespace {

// Convolutions by their definition, one thread or team for each element of the result: for what the library has no plan
// for.
struct Taps {
    Image x, w, y;  // N,C,H,W; K,C/groups,R,S; N,K,P,Q
    int stride[2], padding[2], dilation[2];
    std::int64_t perGroup;  // output channels of a group

    explicit Taps(const ConvolutionShape& shape)
        : x(shape.x),
          w(shape.w),
          y(shape.y),
          stride{static_cast<int>(shape.stride[0]), static_cast<int>(shape.stride[1])},
          padding{static_cast<int>(shape.padding[0]), static_cast<int>(shape.padding[1])},
          dilation{static_cast<int>(shape.dilation[0]), static_cast<int>(shape.dilation[1])},
          perGroup(y.c * w.c / x.c) {}

    LOCKSTEP_CARD std::int64_t row(std::int64_t p, std::int64_t r) const {
        return p * stride[0] - padding[0] + r * dilation[0];
    }
    LOCKSTEP_CARD std::int64_t column(std::int64_t q, std::int64_t s) const {
        return q * stride[1] - padding[1] + s * dilation[1];
    }
    LOCKSTEP_CARD std::int64_t firstChannel(std::int64_t k) const { return k / perGroup * w.c; }
};

template <class T>
struct Forward {
    Taps conv;
    const T *x, *w, *bias;  // bias may be null
    bool relu;
    T* y;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const Image::Place at = conv.y.placeOf(i);
        const std::int64_t first = conv.firstChannel(at.c);
        float sum = bias ? static_cast<float>(bias[at.c]) : 0;
        for (std::int64_t r = 0; r < conv.w.h; ++r) {
            const std::int64_t row = conv.row(at.h, r);
            if (row < 0 || row >= conv.x.h) continue;
            for (std::int64_t s = 0; s < conv.w.w; ++s) {
                const std::int64_t column = conv.column(at.w, s);
                if (column < 0 || column >= conv.x.w) continue;
                for (std::int64_t c = 0; c < conv.w.c; ++c)
                    sum += static_cast<float>(x[conv.x.at(at.n, first + c, row, column)]) *
                           static_cast<float>(w[conv.w.at(at.c, c, r, s)]);
            }
        }
        y[i] = T(relu && sum < 0 ? 0 : sum);
    }
};

template <class T>
struct BackwardData {
    Taps conv;
    const T *dy, *w;
    T* dx;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const Image::Place at = conv.x.placeOf(i);
        const std::int64_t group = at.c / conv.w.c, c = at.c % conv.w.c;
        float sum = 0;
        for (std::int64_t r = 0; r < conv.w.h; ++r) {
            const std::int64_t p = outputAt(at.h, r, 0, conv.y.h);
            if (p < 0) continue;
            for (std::int64_t s = 0; s < conv.w.w; ++s) {
                const std::int64_t q = outputAt(at.w, s, 1, conv.y.w);
                if (q < 0) continue;
                for (std::int64_t k = group * conv.perGroup; k < (group + 1) * conv.perGroup; ++k)
                    sum +=
                        static_cast<float>(dy[conv.y.at(at.n, k, p, q)]) * static_cast<float>(w[conv.w.at(k, c, r, s)]);
            }
        }
        dx[i] = T(sum);
    }

private:
    // The output row or column that reads this pixel at this place of the filter; -1: none.
    LOCKSTEP_CARD std::int64_t outputAt(std::int64_t pixel, std::int64_t tap, int axis, std::int64_t extent) const {
        const std::int64_t from = pixel + conv.padding[axis] - tap * conv.dilation[axis];
        if (from < 0 || from % conv.stride[axis] != 0 || from / conv.stride[axis] >= extent) return -1;
        return from / conv.stride[axis];
    }
};

constexpr int kTeam = 128;

template <class T>
struct BackwardWeights {
    Taps conv;
    const T *x, *dy;
    T* dw;

    LOCKSTEP_CARD void operator()(const Team<kTeam>& team) const {
        const Image::Place at = conv.w.placeOf(team.index());
        const std::int64_t channel = conv.firstChannel(at.n) + at.c, pixels = conv.y.h * conv.y.w;
        const float sum = team.template sum<float>(conv.y.n * pixels, [&](std::int64_t i) {
            const std::int64_t n = i / pixels, p = i % pixels / conv.y.w, q = i % conv.y.w;
            const std::int64_t row = conv.row(p, at.h), column = conv.column(q, at.w);
            if (row < 0 || row >= conv.x.h || column < 0 || column >= conv.x.w) return 0.0f;
            return static_cast<float>(x[conv.x.at(n, channel, row, column)]) *
                   static_cast<float>(dy[conv.y.at(n, at.n, p, q)]);
        });
        team.once([&] { dw[team.index()] = T(sum); });
    }
};

template <class T>
class OwnConvolution final : public Convolution {
public:
    explicit OwnConvolution(const ConvolutionShape& shape) : m_pass(shape.pass), m_relu(shape.relu), m_taps(shape) {}
    std::size_t workspaceBytes() const override { return 0; }

    void run(const ConvolutionOperands& of, std::byte*, cudaStream_t stream) override {
        auto *const x = static_cast<T*>(of.x), *const w = static_cast<T*>(of.w), *const y = static_cast<T*>(of.y);
        switch (m_pass) {
            case ConvolutionShape::Pass::Forward: {
                const auto* const bias = static_cast<const T*>(of.bias);
                return launchElements(stream, m_taps.y.count(), Forward<T>{m_taps, x, w, bias, m_relu, y});
            }
            case ConvolutionShape::Pass::BackwardData:
                return launchElements(stream, m_taps.x.count(), BackwardData<T>{m_taps, y, w, x});
            case ConvolutionShape::Pass::BackwardWeights:
                return launchTeams<kTeam>(stream, m_taps.w.count(), BackwardWeights<T>{m_taps, x, y, w});
        }
    }

private:
    ConvolutionShape::Pass m_pass;
    bool m_relu;
    Taps m_taps;
};

// What the library's convolution without an epilogue leaves to do.
template <class T>
struct BiasAndRelu {
    std::int64_t channels;
    const T* bias;  // may be null
    bool relu;
    T* y;

    template <int W>
    LOCKSTEP_CARD void run(std::int64_t i) const {
        auto pack = load<W>(y, i);
        for (int k = 0; k < W; ++k) {
            float sum = static_cast<float>(pack.at[k]);
            if (bias) sum += static_cast<float>(bias[(i + k) % channels]);
            pack.at[k] = T(relu && sum < 0 ? 0 : sum);
        }
        store(y, i, pack);
    }
};

template <class T>
class WithPassBehind final : public Convolution {
public:
    WithPassBehind(std::unique_ptr<Convolution> plain, const ConvolutionShape& shape)
        : m_plain(std::move(plain)), m_filters(shape.y[1]), m_count(Image(shape.y).count()), m_relu(shape.relu) {}
    std::size_t workspaceBytes() const override { return m_plain->workspaceBytes(); }
    void run(const ConvolutionOperands& of, std::byte* workspace, cudaStream_t stream) override {
        m_plain->run(of, workspace, stream);
        const BiasAndRelu<T> behind{m_filters, static_cast<const T*>(of.bias), m_relu, static_cast<T*>(of.y)};
        launchPacks<T>(stream, m_count, m_count, behind);
    }

private:
    std::unique_ptr<Convolution> m_plain;
    std::int64_t m_filters, m_count;
    bool m_relu;
};

std::array<std::int64_t, 4> extentsOf(const Value& value) {
    const Shape& shape = value.type.shape;
    return {shape[0], shape[1], shape[2], shape[3]};
}

std::unique_ptr<Kernel> convolutionKernel(const Order& order, const ConvolutionShape& shape,
                                          ConvolutionOperands (*operands)(const KernelCall& call)) {
    const std::shared_ptr<Convolution> made = makeConvolution(order, shape);
    return kernelOf(
        order.where(),
        [=](const KernelCall& call, cudaStream_t stream) { made->run(operands(call), call.workspace, stream); },
        made->workspaceBytes());
}

}  // namespace

ConvolutionShape convolutionShape(const Order& order, ConvolutionShape::Pass pass, const Value& x, const Value& w,
                                  const Value& y) {
    const Conv2dAttrs attrs = pass == ConvolutionShape::Pass::Forward ? order.node.attrs.as<Conv2dAttrs>()
                                                                      : order.node.attrs.as<Conv2dBackwardAttrs>().conv;
    const auto pair = [](const std::array<int, 2>& of) { return std::array<std::int64_t, 2>{of[0], of[1]}; };
    return {pass,
            x.type.dtype,
            extentsOf(x),
            extentsOf(w),
            extentsOf(y),
            pair(attrs.stride),
            pair(attrs.padding),
            pair(attrs.dilation),
            readsTf32(order.node)};
}

std::unique_ptr<Convolution> makeConvolution(const Order& order, const ConvolutionShape& shape) {
    Libraries& libraries = order.device.libraries();
    const bool byRule = isByRule(order.node);
    if (auto library = libraries.convolution(shape, order.where(), byRule)) return library;
    ConvolutionShape plain = shape;
    plain.bias = plain.relu = false;
    std::unique_ptr<Convolution> inPart;
    if (shape.bias || shape.relu) inPart = libraries.convolution(plain, order.where(), byRule);
    return withFloat(shape.dtype, order.where(), [&]<class T>(T) -> std::unique_ptr<Convolution> {
        if (inPart) return std::make_unique<WithPassBehind<T>>(std::move(inPart), shape);
        return std::make_unique<OwnConvolution<T>>(shape);
    });
}

std::unique_ptr<Kernel> makeConv2d(const Order& order) {
    ConvolutionShape shape =
        convolutionShape(order, ConvolutionShape::Pass::Forward, order.input(0), order.input(1), order.output(0));
    shape.relu = order.node.op == &kConv2dRelu;
    shape.bias = order.node.inputs.size() == 3;
    if (shape.bias)
        return convolutionKernel(order, shape, [](const KernelCall& call) {
            return ConvolutionOperands{call.inputs[0], call.inputs[1], call.outputs[0], call.inputs[2]};
        });
    return convolutionKernel(order, shape, [](const KernelCall& call) {
        return ConvolutionOperands{call.inputs[0], call.inputs[1], call.outputs[0]};
    });
}

std::unique_ptr<Kernel> makeConv2dBackwardData(const Order& order) {
    const auto pass = ConvolutionShape::Pass::BackwardData;
    const ConvolutionShape shape = convolutionShape(order, pass, order.output(0), order.input(1), order.input(0));
    return convolutionKernel(order, shape, [](const KernelCall& call) {
        return ConvolutionOperands{call.outputs[0], call.inputs[1], call.inputs[0]};
    });
}

std::unique_ptr<Kernel> makeConv2dBackwardWeights(const Order& order) {
    const auto pass = ConvolutionShape::Pass::BackwardWeights;
    const ConvolutionShape shape = convolutionShape(order, pass, order.input(0), order.output(0), order.input(1));
    return convolutionKernel(order, shape, [](const KernelCall& call) {
        return ConvolutionOperands{call.inputs[0], call.outputs[0], call.inputs[1]};
    });
}

}  // namespace lockstep::cuda
