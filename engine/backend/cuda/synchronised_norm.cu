#include "engine/ops/synchronised_norm.h"

#include "engine/backend/cuda/norm.h"

namespace lockstep::cuda {

namespace {

// In double: few values would else lose their variance, which the sums of all ranks do not bring back.
template <class T>
struct SumsAboutRunningMean {
    const T* x;
    const float* runningMean;
    std::int64_t channels;

    LOCKSTEP_CARD Sums<2, double> operator()(std::int64_t row, std::int64_t c) const {
        const double deviation = static_cast<double>(static_cast<float>(x[row * channels + c])) - runningMean[c];
        return {{deviation, deviation * deviation}};
    }
};

// f64[2C + 1]: see kBatchNormSums
struct StoreSums {
    double* sums;
    std::int64_t channels;
    double count;

    LOCKSTEP_CARD void operator()(std::int64_t c, const Sums<2, double>& found) const {
        sums[c] = found.at[0];
        sums[channels + c] = found.at[1];
        if (c == 0) sums[2 * channels] = count;
    }
};

template <class T>
struct StoreGradients {
    StoreSums store;
    T *dgamma, *dbeta;

    LOCKSTEP_CARD void operator()(std::int64_t c, const Sums<2, double>& found) const {
        store(c, found);
        dbeta[c] = T(static_cast<float>(found.at[0]));
        dgamma[c] = T(static_cast<float>(found.at[1]));
    }
};

struct StatisticsFromSums {
    const double* sums;
    std::int64_t channels;
    Statistics statistics;

    LOCKSTEP_CARD void operator()(std::int64_t c) const {
        statistics(c, statistics.running.runningMean[c], sums[c], sums[channels + c], sums[2 * channels]);
    }
};

}  // namespace

std::unique_ptr<Kernel> makeBatchNormSums(const Order& order) {
    const ColumnSums shape = channelSums(order.input(0));
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(
            order.where(),
            [=](const KernelCall& call, cudaStream_t stream) {
                launchColumnSums<2, double>(
                    stream, shape, call.workspace,
                    SumsAboutRunningMean<T>{in<T>(call, 0), in<float>(call, 1), shape.columns},
                    StoreSums{out<double>(call, 0), shape.columns, static_cast<double>(shape.rows)});
            },
            shape.workspaceBytes(2, sizeof(double)));
    });
}

std::unique_ptr<Kernel> makeBatchNormTrainFromSums(const Order& order) {
    const ColumnSums shape = channelSums(order.input(0));
    const auto attrs = order.node.attrs.as<BatchNormAttrs>();
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [=](const KernelCall& call, cudaStream_t stream) {
            const RunningUpdate running{static_cast<float>(attrs.momentum), in<float>(call, 3), in<float>(call, 4),
                                        out<float>(call, 3), out<float>(call, 4)};
            launchElements(stream, shape.columns,
                           StatisticsFromSums{
                               in<double>(call, 5),
                               shape.columns,
                               {static_cast<float>(attrs.epsilon), out<float>(call, 1), out<float>(call, 2), running}});
            launchPacks<T>(
                stream, shape.rows * shape.columns, shape.columns,
                Normalise<T>{.main = {in<T>(call, 0),
                                      {in<T>(call, 1), in<T>(call, 2), out<float>(call, 1), out<float>(call, 2)}},
                             .y = out<T>(call, 0),
                             .channels = shape.columns});
        });
    });
}

std::unique_ptr<Kernel> makeBatchNormBackwardSums(const Order& order) {
    const ColumnSums shape = channelSums(order.input(0));
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(
            order.where(),
            [=](const KernelCall& call, cudaStream_t stream) {
                const StoreSums store{out<double>(call, 0), shape.columns, static_cast<double>(shape.rows)};
                launchColumnSums<2>(
                    stream, shape, call.workspace,
                    GradientSums<T, 1>{
                        .gradient = {in<T>(call, 3)},
                        .branches = {{in<T>(call, 0), {nullptr, nullptr, in<float>(call, 1), in<float>(call, 2)}}},
                        .channels = shape.columns},
                    StoreGradients<T>{store, out<T>(call, 1), out<T>(call, 2)});
            },
            shape.workspaceBytes(2));
    });
}

std::unique_ptr<Kernel> makeBatchNormBackwardFromSums(const Order& order) {
    const ColumnSums shape = channelSums(order.input(0));
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [=](const KernelCall& call, cudaStream_t stream) {
            const double* sums = in<double>(call, 5);
            launchPacks<T>(
                stream, shape.rows * shape.columns, shape.columns,
                NormBackward<T, double>{
                    .gradient = {in<T>(call, 4)},
                    .main = {in<T>(call, 0), {in<T>(call, 1), nullptr, in<float>(call, 2), in<float>(call, 3)}},
                    .dx = out<T>(call, 0),
                    .sum = sums,
                    .dot = sums + shape.columns,
                    .count = sums + 2 * shape.columns,
                    .channels = shape.columns});
        });
    });
}

}  // namespace lockstep::cuda
