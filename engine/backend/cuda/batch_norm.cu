#include "engine/ops/batch_norm.h"

#include "engine/backend/cuda/layout.h"
#include "engine/backend/cuda/norm.h"

namespace lockstep::cuda {

namespace {

// Sums about the first value of the channel, so that a channel far from zero keeps its variance.
template <class T>
struct DeviationSums {
    const T* x;
    std::int64_t channels;

    LOCKSTEP_CARD Sums<2> operator()(std::int64_t row, std::int64_t c) const {
        const float deviation = static_cast<float>(x[row * channels + c]) - static_cast<float>(x[c]);
        return {{deviation, deviation * deviation}};
    }
};

template <class T>
struct FinishStatistics {
    const T* x;
    float epsilon, *mean, *invStd;
    double count;
    RunningUpdate running;

    LOCKSTEP_CARD void operator()(std::int64_t c, const Sums<2, double>& sums) const {
        const double shift = sums.at[0] / count, found = static_cast<float>(x[c]) + shift;
        const double squares = sums.at[1] - shift * sums.at[0], atLeast = squares > 0          ? squares
                                                                          : squares != squares ? squares
                                                                                               : 0;
        mean[c] = static_cast<float>(found);
        invStd[c] = static_cast<float>(1 / sqrt(atLeast / count + epsilon));
        running(c, found, atLeast, count);
    }
};

template <class T>
struct FinishGradients {
    T *dgamma, *dbeta;
    float *sum, *dot, *count;
    float rows;

    LOCKSTEP_CARD void operator()(std::int64_t c, const Sums<2, double>& sums) const {
        sum[c] = static_cast<float>(sums.at[0]);
        dot[c] = static_cast<float>(sums.at[1]);
        dbeta[c] = T(sum[c]);
        dgamma[c] = T(dot[c]);
        if (c == 0) *count = rows;
    }
};

// y or dx with the running statistics, which stand still.
template <class T>
struct ScaleBy {
    const T* from;
    T* to;
    const T *gamma, *beta;  // beta: null in backward, where the mean does not count either
    const float *mean, *variance;
    float epsilon;
    std::int64_t channels;

    template <int W>
    LOCKSTEP_CARD void run(std::int64_t i) const {
        const std::int64_t c = i % channels;
        auto pack = load<W>(from, i);
        for (int k = 0; k < W; ++k) {
            const float scale = static_cast<float>(gamma[c + k]) / sqrtf(variance[c + k] + epsilon);
            const float x = pack.at[k];
            pack.at[k] = T(beta ? scale * (x - mean[c + k]) + static_cast<float>(beta[c + k]) : scale * x);
        }
        store(to, i, pack);
    }
};

}  // namespace

ColumnSums channelSums(const Value& x) {
    const Shape& shape = x.type.shape;
    if (shape.rank() == 4 && shape[1] > 1 && shape[2] * shape[3] > 1 && !isChannelsLast(x))
        throw EngineError(EngineError::Kind::Internal, x.name, "is normalised with its channels last only");
    return {shape.count() / shape[1], shape[1]};
}

std::unique_ptr<Kernel> makeBatchNormTrain(const Order& order) {
    const ColumnSums shape = channelSums(order.input(0));
    const auto attrs = order.node.attrs.as<BatchNormAttrs>();
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(
            order.where(),
            [=](const KernelCall& call, cudaStream_t stream) {
                const RunningUpdate running{static_cast<float>(attrs.momentum), in<float>(call, 3), in<float>(call, 4),
                                            out<float>(call, 3), out<float>(call, 4)};
                const T* x = in<T>(call, 0);
                launchColumnSums<2>(stream, shape, call.workspace, DeviationSums<T>{x, shape.columns},
                                    FinishStatistics<T>{x, static_cast<float>(attrs.epsilon), out<float>(call, 1),
                                                        out<float>(call, 2), static_cast<double>(shape.rows), running});
                launchPacks<T>(stream, shape.rows * shape.columns, shape.columns,
                               Normalise<T>{x,
                                            out<T>(call, 0),
                                            in<T>(call, 1),
                                            in<T>(call, 2),
                                            {out<float>(call, 1), out<float>(call, 2)},
                                            shape.columns});
            },
            shape.workspaceBytes(2));
    });
}

std::unique_ptr<Kernel> makeBatchNormBackward(const Order& order) {
    const ColumnSums shape = channelSums(order.input(0));
    const std::size_t sums = shape.workspaceBytes(2),
                      own = static_cast<std::size_t>(2 * shape.columns + 1) * sizeof(float);
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(
            order.where(),
            [=](const KernelCall& call, cudaStream_t stream) {
                const T *x = in<T>(call, 0), *dy = in<T>(call, 4);
                const Statistics statistics{in<float>(call, 2), in<float>(call, 3)};
                auto* const sum = reinterpret_cast<float*>(call.workspace + sums);
                float *const dot = sum + shape.columns, *const count = dot + shape.columns;
                launchColumnSums<2>(stream, shape, call.workspace, GradientSums<T>{x, dy, statistics, shape.columns},
                                    FinishGradients<T>{out<T>(call, 1), out<T>(call, 2), sum, dot, count,
                                                       static_cast<float>(shape.rows)});
                launchPacks<T>(stream, shape.rows * shape.columns, shape.columns,
                               NormBackward<T, float>{x, dy, out<T>(call, 0), in<T>(call, 1), statistics, sum, dot,
                                                      count, shape.columns});
            },
            sums + own);
    });
}

std::unique_ptr<Kernel> makeBatchNormEval(const Order& order) {
    const ColumnSums shape = channelSums(order.input(0));
    const auto epsilon = static_cast<float>(order.node.attrs.as<BatchNormAttrs>().epsilon);
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [=](const KernelCall& call, cudaStream_t stream) {
            launchPacks<T>(stream, shape.rows * shape.columns, shape.columns,
                           ScaleBy<T>{in<T>(call, 0), out<T>(call, 0), in<T>(call, 1), in<T>(call, 2),
                                      in<float>(call, 3), in<float>(call, 4), epsilon, shape.columns});
        });
    });
}

std::unique_ptr<Kernel> makeBatchNormEvalBackward(const Order& order) {
    const ColumnSums shape = channelSums(order.input(0));
    const auto epsilon = static_cast<float>(order.node.attrs.as<BatchNormAttrs>().epsilon);
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [=](const KernelCall& call, cudaStream_t stream) {
            launchPacks<T>(stream, shape.rows * shape.columns, shape.columns,
                           ScaleBy<T>{in<T>(call, 0), out<T>(call, 0), in<T>(call, 1), nullptr, nullptr,
                                      in<float>(call, 2), epsilon, shape.columns});
        });
    });
}

}  // namespace lockstep::cuda
