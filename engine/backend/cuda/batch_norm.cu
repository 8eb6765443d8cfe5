#include "engine/ops/batch_norm.h"

#include "engine/backend/cuda/fused_ops.h"
#include "engine/backend/cuda/layout.h"
#include "engine/backend/cuda/norm.h"
#include "engine/backend/fusion/fused_ops.h"

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
    double count;
    Statistics statistics;

    LOCKSTEP_CARD void operator()(std::int64_t c, const Sums<2, double>& sums) const {
        statistics(c, static_cast<float>(x[c]), sums.at[0], sums.at[1], count);
    }
};

// The same, where a convolution has summed up what it made.
struct GivenStatistics {
    const float* sums;
    std::int64_t channels;
    double count;
    Statistics statistics;

    LOCKSTEP_CARD void operator()(std::int64_t c) const { statistics(c, 0, sums[c], sums[channels + c], count); }
};

template <class T, int Branches>
struct FinishGradients {
    T *dgamma[Branches] = {}, *dbeta[Branches] = {};
    float *sums, *count;  // sums: by branch behind the first, which is of g, then by channel
    float rows;
    std::int64_t channels;

    LOCKSTEP_CARD void operator()(std::int64_t c, const Sums<Branches + 1, double>& found) const {
        for (int k = 0; k <= Branches; ++k) sums[k * channels + c] = static_cast<float>(found.at[k]);
        for (int b = 0; b < Branches; ++b) {
            dbeta[b][c] = T(static_cast<float>(found.at[0]));
            dgamma[b][c] = T(static_cast<float>(found.at[b + 1]));
        }
        if (c == 0) *count = rows;
    }
};

// dx with the running statistics, which stand still.
template <class T>
struct ScaleBy {
    const T* dy;
    T* dx;
    Affine<T> affine;
    std::int64_t channels;

    template <int W>
    LOCKSTEP_CARD void run(std::int64_t i) const {
        const std::int64_t c = i % channels;
        auto pack = load<W>(dy, i);
        for (int k = 0; k < W; ++k)
            pack.at[k] =
                T(static_cast<float>(pack.at[k]) * static_cast<float>(affine.gamma[c + k]) * affine.invStd(c + k));
        store(dx, i, pack);
    }
};

// A norm and what was fused with it, if anything was.
FusedNormAttrs normOf(const Node& node) {
    const bool isPlain = node.op == &kBatchNormTrain || node.op == &kBatchNormEval;
    if (!isPlain) return node.attrs.as<FusedNormAttrs>();
    return {.norm = node.attrs.as<BatchNormAttrs>(), .second = {}};
}

// Of the x at that input, with its running statistics three and four further on, into four outputs; `sums` may be null.
template <class T>
void launchStatistics(cudaStream_t stream, const KernelCall& call, const ColumnSums& shape, const BatchNormAttrs& attrs,
                      std::size_t input, std::size_t output, const float* sums) {
    const RunningUpdate running{static_cast<float>(attrs.momentum), in<float>(call, input + 3),
                                in<float>(call, input + 4), out<float>(call, output + 2), out<float>(call, output + 3)};
    const Statistics statistics{static_cast<float>(attrs.epsilon), out<float>(call, output),
                                out<float>(call, output + 1), running};
    const auto count = static_cast<double>(shape.rows);
    if (sums) return launchElements(stream, shape.columns, GivenStatistics{sums, shape.columns, count, statistics});
    const T* const x = in<T>(call, input);
    launchColumnSums<2>(stream, shape, call.workspace, DeviationSums<T>{x, shape.columns},
                        FinishStatistics<T>{x, count, statistics});
}

// Where a backward node has what: plain ones, and those of fused_ops.h.
struct BackwardPlaces {
    FusedNormBackwardAttrs attrs;
    std::size_t dy = 4, x = 0, dy2 = 0, mask = 0, other = 0;  // gamma, mean and invStd come behind an x
    std::size_t dx = 0;                                       // dgamma, dbeta, dgamma2, dbeta2 come behind it

    explicit BackwardPlaces(const Node& node) {
        if (node.op != &kNormBackward) return;
        attrs = node.attrs.as<FusedNormBackwardAttrs>();
        dy = 0;
        x = 1;
        std::size_t next = 5;
        if (attrs.pair) dy2 = next++;
        if (attrs.mask != GradMask::None) mask = next++;
        other = next;
        dx = attrs.other == GradOther::Kept || attrs.other == GradOther::Norm ? 1 : 0;
    }

    template <class T>
    Branch<T> branch(const KernelCall& call, std::size_t at) const {
        return {in<T>(call, at), {in<T>(call, at + 1), nullptr, in<float>(call, at + 2), in<float>(call, at + 3)}};
    }
    template <class T>
    NormGradient<T> gradient(const KernelCall& call) const {
        NormGradient<T> gradient{.dy = in<T>(call, dy), .mask = attrs.mask};
        if (attrs.pair) gradient.dy2 = in<T>(call, dy2);
        if (attrs.mask == GradMask::FromOutput) gradient.z = in<T>(call, mask);
        if (attrs.mask == GradMask::Recomputed) {
            gradient.affine = branch<T>(call, x).affine;
            gradient.affine.beta = in<T>(call, mask);
        }
        return gradient;
    }
};

template <class T, int Branches>
void launchBackward(cudaStream_t stream, const KernelCall& call, const ColumnSums& shape, const BackwardPlaces& at) {
    auto* const sums = reinterpret_cast<float*>(call.workspace + shape.workspaceBytes(Branches + 1));
    float* const count = sums + (Branches + 1) * shape.columns;
    GradientSums<T, Branches> gradients{.gradient = at.template gradient<T>(call), .channels = shape.columns};
    FinishGradients<T, Branches> finish{
        .sums = sums, .count = count, .rows = static_cast<float>(shape.rows), .channels = shape.columns};
    for (int b = 0; b < Branches; ++b) {
        gradients.branches[b] = at.template branch<T>(call, b == 0 ? at.x : at.other);
        finish.dgamma[b] = out<T>(call, at.dx + 1 + 2 * static_cast<std::size_t>(b));
        finish.dbeta[b] = out<T>(call, at.dx + 2 + 2 * static_cast<std::size_t>(b));
    }
    launchColumnSums<Branches + 1>(stream, shape, call.workspace, gradients, finish);
    NormBackward<T, float> backward{.gradient = gradients.gradient,
                                    .main = gradients.branches[0],
                                    .dx = out<T>(call, at.dx),
                                    .sum = sums,
                                    .dot = sums + shape.columns,
                                    .count = count,
                                    .channels = shape.columns};
    if (at.attrs.other == GradOther::Added) backward.added = in<T>(call, at.other);
    if (at.attrs.other == GradOther::Kept) backward.kept = out<T>(call, 0);
    if constexpr (Branches == 2) {
        backward.second = gradients.branches[1];
        backward.secondDot = sums + 2 * shape.columns;
        backward.secondDx = out<T>(call, 0);
    }
    launchPacks<T>(stream, shape.rows * shape.columns, shape.columns, backward);
}

}  // namespace

ColumnSums channelSums(const Value& x) {
    const Shape& shape = x.type.shape;
    if (shape.rank() == 4 && shape[1] > 1 && shape[2] * shape[3] > 1 && !isChannelsLast(x))
        throw EngineError(EngineError::Kind::Internal, x.name, "is normalised with its channels last only");
    return {shape.count() / shape[1], shape[1]};
}

std::unique_ptr<Kernel> makeBatchNormTrain(const Order& order) {
    const ColumnSums shape = channelSums(order.input(0));
    const FusedNormAttrs attrs = normOf(order.node);
    const bool isOfSums = order.node.op == &kNormTrainFromSums;
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(
            order.where(),
            [=](const KernelCall& call, cudaStream_t stream) {
                const std::size_t behind = call.inputs.size() - (attrs.residual == Residual::Norm ? 2 : 1);
                const auto sums = [&](std::size_t branch) {
                    return isOfSums ? in<float>(call, behind + branch) : nullptr;
                };
                const auto branch = [&](std::size_t input, std::size_t output) -> Branch<T> {
                    return {in<T>(call, input),
                            {in<T>(call, input + 1), in<T>(call, input + 2), out<float>(call, output),
                             out<float>(call, output + 1)}};
                };
                launchStatistics<T>(stream, call, shape, attrs.norm, 0, 1, sums(0));
                Normalise<T> normalise{.main = branch(0, 1), .y = out<T>(call, 0), .channels = shape.columns};
                normalise.relu = attrs.relu;
                if (attrs.residual == Residual::Tensor) normalise.other.x = in<T>(call, 5);
                if (attrs.residual == Residual::Norm) {
                    launchStatistics<T>(stream, call, shape, attrs.second, 5, 5, sums(1));
                    normalise.other = branch(5, 5);
                }
                launchPacks<T>(stream, shape.rows * shape.columns, shape.columns, normalise);
            },
            shape.workspaceBytes(2));
    });
}

std::unique_ptr<Kernel> makeBatchNormEval(const Order& order) {
    const ColumnSums shape = channelSums(order.input(0));
    const FusedNormAttrs attrs = normOf(order.node);
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [=](const KernelCall& call, cudaStream_t stream) {
            const auto branch = [&](std::size_t input, double epsilon) -> Branch<T> {
                return {in<T>(call, input),
                        {in<T>(call, input + 1), in<T>(call, input + 2), in<float>(call, input + 3),
                         in<float>(call, input + 4), static_cast<float>(epsilon)}};
            };
            Normalise<T> normalise{
                .main = branch(0, attrs.norm.epsilon), .y = out<T>(call, 0), .channels = shape.columns};
            normalise.relu = attrs.relu;
            if (attrs.residual == Residual::Tensor) normalise.other.x = in<T>(call, 5);
            if (attrs.residual == Residual::Norm) normalise.other = branch(5, attrs.second.epsilon);
            launchPacks<T>(stream, shape.rows * shape.columns, shape.columns, normalise);
        });
    });
}

std::unique_ptr<Kernel> makeBatchNormBackward(const Order& order) {
    const BackwardPlaces at(order.node);
    const ColumnSums shape = channelSums(order.input(at.x));
    const bool isPair = at.attrs.other == GradOther::Norm;
    const int sums = isPair ? 3 : 2;
    return withFloat(order.input(at.x).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(
            order.where(),
            [=](const KernelCall& call, cudaStream_t stream) {
                if (isPair) return launchBackward<T, 2>(stream, call, shape, at);
                launchBackward<T, 1>(stream, call, shape, at);
            },
            shape.workspaceBytes(sums) + static_cast<std::size_t>(sums * shape.columns + 1) * sizeof(float));
    });
}

std::unique_ptr<Kernel> makeBatchNormEvalBackward(const Order& order) {
    const ColumnSums shape = channelSums(order.input(0));
    const auto epsilon = static_cast<float>(order.node.attrs.as<BatchNormAttrs>().epsilon);
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [=](const KernelCall& call, cudaStream_t stream) {
            const Affine<T> affine{in<T>(call, 1), nullptr, nullptr, in<float>(call, 2), epsilon};
            launchPacks<T>(stream, shape.rows * shape.columns, shape.columns,
                           ScaleBy<T>{in<T>(call, 0), out<T>(call, 0), affine, shape.columns});
        });
    });
}

}  // namespace lockstep::cuda
