#include <algorithm>

#include "engine/backend/cuda/algorithm_names.h"
#include "engine/backend/cuda/convolution_kernel.h"
#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/fused_ops.h"
#include "engine/backend/cuda/norm.h"

// Convolutions and the batch norms around them: see norm_fusion.h.
namespace lockstep::cuda {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::int64_t countOf(const std::array<std::int64_t, 4>& extents) {
    return extents[0] * extents[1] * extents[2] * extents[3];
}

ColumnSums byChannel(const std::array<std::int64_t, 4>& extents) { return {countOf(extents) / extents[1], extents[1]}; }

// y = ReLU(scale x + shift), by channel
template <class T>
struct ScaleShiftRelu {
    const T *x, *scale, *shift;
    T* y;
    std::int64_t channels;

    template <int W>
    LOCKSTEP_CARD void run(std::int64_t i) const {
        const std::int64_t c = i % channels;
        auto pack = load<W>(x, i);
        for (int k = 0; k < W; ++k) {
            const float value =
                static_cast<float>(pack.at[k]) * static_cast<float>(scale[c + k]) + static_cast<float>(shift[c + k]);
            pack.at[k] = T(value < 0 ? 0 : value);
        }
        store(y, i, pack);
    }
};

template <class T>
struct ValueSums {
    const T* x;
    std::int64_t channels;

    LOCKSTEP_CARD Sums<2> operator()(std::int64_t row, std::int64_t c) const {
        const auto value = static_cast<float>(x[row * channels + c]);
        return {{value, value * value}};
    }
};

struct KeepSums {
    float* sums;
    std::int64_t channels;

    LOCKSTEP_CARD void operator()(std::int64_t c, const Sums<2, double>& found) const {
        sums[c] = static_cast<float>(found.at[0]);
        sums[channels + c] = static_cast<float>(found.at[1]);
    }
};

// g, where the ReLU behind the norm of `input` let it pass.
template <class T>
struct MaskedGradient {
    T* g;
    const T* input;
    const float *mean, *invStd, *gamma, *beta;
    std::int64_t channels;

    LOCKSTEP_CARD float normalised(float x, std::int64_t c) const { return (x - mean[c]) * invStd[c]; }
    LOCKSTEP_CARD bool passes(float x, std::int64_t c) const { return normalised(x, c) * gamma[c] + beta[c] > 0; }

    LOCKSTEP_CARD Sums<2> operator()(std::int64_t row, std::int64_t c) const {
        const std::int64_t i = row * channels + c;
        const auto x = static_cast<float>(input[i]);
        const float passed = passes(x, c) ? static_cast<float>(g[i]) : 0;
        return {{passed * normalised(x, c), passed}};
    }
    template <int W>
    LOCKSTEP_CARD void run(std::int64_t i) const {
        const std::int64_t c = i % channels;
        const auto x = load<W>(input, i);
        auto pack = load<W>(g, i);
        for (int k = 0; k < W; ++k)
            if (!passes(static_cast<float>(x.at[k]), c + k)) pack.at[k] = T(0);
        store(g, i, pack);
    }
};

// What the library's engines do at once, in passes of its own around the plain convolution.
template <class T>
class NormPasses final : public Convolution {
public:
    NormPasses(std::unique_ptr<Convolution> plain, const ConvolutionShape& shape)
        : m_plain(std::move(plain)),
          m_shape(shape),
          m_read(shape.normalised ? aligned(static_cast<std::size_t>(countOf(shape.x)) * sizeof(T)) : 0) {}

    std::size_t workspaceBytes() const override {
        const std::size_t sums = byChannel(m_shape.normGradient ? m_shape.x : m_shape.y).workspaceBytes(2);
        return m_read + std::max(m_plain->workspaceBytes(), sums);
    }

    void run(const ConvolutionOperands& of, std::byte* workspace, cudaStream_t stream) override {
        ConvolutionOperands plain{of.x, of.w, of.y};
        std::byte* const rest = workspace + m_read;
        if (m_shape.normalised) {
            const auto* const factors = static_cast<const T*>(of.factors);
            auto* const read = reinterpret_cast<T*>(workspace);
            const std::int64_t channels = m_shape.x[1];
            launchPacks<T>(stream, countOf(m_shape.x), channels,
                           ScaleShiftRelu<T>{static_cast<const T*>(of.x), factors, factors + channels, read, channels});
            plain.x = read;
        }
        m_plain->run(plain, rest, stream);
        if (m_shape.sums) {
            const ColumnSums shape = byChannel(m_shape.y);
            launchColumnSums<2>(stream, shape, rest, ValueSums<T>{static_cast<const T*>(of.y), shape.columns},
                                KeepSums{of.sums, shape.columns});
        }
        if (m_shape.normGradient) {
            const ColumnSums shape = byChannel(m_shape.x);
            const MaskedGradient<T> gradient{static_cast<T*>(of.x), static_cast<const T*>(of.norm.input),
                                             of.norm.mean,          of.norm.invStd,
                                             of.norm.gamma,         of.norm.beta,
                                             shape.columns};
            launchColumnSums<2>(stream, shape, rest, gradient, KeepSums{of.norm.sums, shape.columns});
            launchPacks<T>(stream, countOf(m_shape.x), shape.columns, gradient);
        }
    }

private:
    std::unique_ptr<Convolution> m_plain;
    ConvolutionShape m_shape;
    std::size_t m_read;  // bytes of the workspace for x as the convolution reads it
};

// The library's, else passes around a plain one.
std::unique_ptr<Convolution> makeNormConvolution(const Order& order, const ConvolutionShape& shape) {
    if (auto library = order.device.libraries().convolution(shape, order.where(), isByRule(order.node))) return library;
    ConvolutionShape plain = shape;
    plain.normalised = plain.sums = plain.normGradient = false;
    return withFloat(shape.dtype, order.where(), [&]<class T>(T) -> std::unique_ptr<Convolution> {
        return std::make_unique<NormPasses<T>>(makeConvolution(order, plain), shape);
    });
}

template <class T>
struct MakeFactors {
    const float* sums;
    std::int64_t channels;
    double count;
    Statistics statistics;
    const T *gamma, *beta;
    T* factors;

    // The shift makes up for the scale's rounding: the channel's mean becomes beta.
    LOCKSTEP_CARD void operator()(std::int64_t c) const {
        statistics(c, 0, sums[c], sums[channels + c], count);
        const T scale(static_cast<float>(gamma[c]) * statistics.invStd[c]);
        factors[c] = scale;
        factors[channels + c] = T(static_cast<float>(beta[c]) - statistics.mean[c] * static_cast<float>(scale));
    }
};

template <class T>
struct Widen {
    const T *gamma, *beta;
    float* to;
    std::int64_t channels;

    LOCKSTEP_CARD void operator()(std::int64_t c) const {
        to[c] = static_cast<float>(gamma[c]);
        to[channels + c] = static_cast<float>(beta[c]);
    }
};

template <class T>
struct NarrowGradients {
    const float* sums;
    T *dgamma, *dbeta;
    float *count, rows;
    std::int64_t channels;

    LOCKSTEP_CARD void operator()(std::int64_t c) const {
        dgamma[c] = T(sums[c]);
        dbeta[c] = T(sums[channels + c]);
        if (c == 0) *count = rows;
    }
};

}  // namespace

std::unique_ptr<Kernel> makeConv2dSums(const Order& order) {
    const bool isNormalised = order.node.op == &kNormConv2dSums;
    const std::size_t filter = isNormalised ? 2 : 1;
    ConvolutionShape shape =
        convolutionShape(order, ConvolutionShape::Pass::Forward, order.input(0), order.input(filter), order.output(0));
    shape.sums = true;
    shape.normalised = isNormalised;
    const std::shared_ptr<Convolution> made = makeNormConvolution(order, shape);
    return kernelOf(
        order.where(),
        [=](const KernelCall& call, cudaStream_t stream) {
            ConvolutionOperands of{call.inputs[0], call.inputs[filter], call.outputs[0]};
            if (isNormalised) of.factors = call.inputs[1];
            of.sums = out<float>(call, 1);
            made->run(of, call.workspace, stream);
        },
        made->workspaceBytes());
}

std::unique_ptr<Kernel> makeNormFactors(const Order& order) {
    const auto attrs = order.node.attrs.as<NormOfSumsAttrs>();
    const std::int64_t channels = order.inputShape(0)[1];
    return withFloat(order.output(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [=](const KernelCall& call, cudaStream_t stream) {
            const RunningUpdate running{static_cast<float>(attrs.norm.momentum), in<float>(call, 3), in<float>(call, 4),
                                        out<float>(call, 3), out<float>(call, 4)};
            const Statistics statistics{static_cast<float>(attrs.norm.epsilon), out<float>(call, 1),
                                        out<float>(call, 2), running};
            launchElements(stream, channels,
                           MakeFactors<T>{in<float>(call, 0), channels, static_cast<double>(attrs.count), statistics,
                                          in<T>(call, 1), in<T>(call, 2), out<T>(call, 0)});
        });
    });
}

std::unique_ptr<Kernel> makeNormConv2dBackwardWeights(const Order& order) {
    ConvolutionShape shape = convolutionShape(order, ConvolutionShape::Pass::BackwardWeights, order.input(0),
                                              order.output(0), order.input(2));
    shape.normalised = true;
    const std::shared_ptr<Convolution> made = makeNormConvolution(order, shape);
    return kernelOf(
        order.where(),
        [=](const KernelCall& call, cudaStream_t stream) {
            ConvolutionOperands of{call.inputs[0], call.outputs[0], call.inputs[2]};
            of.factors = call.inputs[1];
            made->run(of, call.workspace, stream);
        },
        made->workspaceBytes());
}

std::unique_ptr<Kernel> makeConv2dBackwardDataNorm(const Order& order) {
    ConvolutionShape shape =
        convolutionShape(order, ConvolutionShape::Pass::BackwardData, order.output(0), order.input(1), order.input(0));
    shape.normGradient = true;
    const std::shared_ptr<Convolution> made = makeNormConvolution(order, shape);
    const std::int64_t channels = shape.x[1];
    const std::size_t own = aligned(made->workspaceBytes());
    return withFloat(shape.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(
            order.where(),
            [=](const KernelCall& call, cudaStream_t stream) {
                auto* const wide = reinterpret_cast<float*>(call.workspace + own);
                launchElements(stream, channels, Widen<T>{in<T>(call, 3), in<T>(call, 4), wide, channels});
                ConvolutionOperands of{call.outputs[0], call.inputs[1], call.inputs[0]};
                of.norm = {.input = call.inputs[2],
                           .mean = in<float>(call, 5),
                           .invStd = in<float>(call, 6),
                           .gamma = wide,
                           .beta = wide + channels,
                           .sums = out<float>(call, 1),
                           .scratch = wide + 2 * channels};
                made->run(of, call.workspace, stream);
            },
            own + static_cast<std::size_t>(5 * channels) * sizeof(float));
    });
}

std::unique_ptr<Kernel> makeNormBackwardFromSums(const Order& order) {
    const ColumnSums shape = channelSums(order.input(1));
    const bool isAdded = order.node.inputs.size() > 6;
    return withFloat(order.input(1).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(
            order.where(),
            [=](const KernelCall& call, cudaStream_t stream) {
                const float* const sums = in<float>(call, 5);
                auto* const count = reinterpret_cast<float*>(call.workspace);
                launchElements(stream, shape.columns,
                               NarrowGradients<T>{sums, out<T>(call, 1), out<T>(call, 2), count,
                                                  static_cast<float>(shape.rows), shape.columns});
                NormBackward<T, float> backward{
                    .gradient = {in<T>(call, 0)},
                    .main = {in<T>(call, 1), {in<T>(call, 2), nullptr, in<float>(call, 3), in<float>(call, 4)}},
                    .dx = out<T>(call, 0),
                    .sum = sums + shape.columns,
                    .dot = sums,
                    .count = count,
                    .channels = shape.columns};
                if (isAdded) backward.added = in<T>(call, 6);
                launchPacks<T>(stream, shape.rows * shape.columns, shape.columns, backward);
            },
            sizeof(float));
    });
}

}  // namespace lockstep::cuda
