#include "engine/ops/layer_norm.h"

#include "engine/backend/cuda/column_sums.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/real.h"
#include "engine/backend/fusion/fused_ops.h"

namespace lockstep::cuda {

namespace {

constexpr int kTeam = 128;

template <class T>
struct LayerNorm {
    const T *x, *gamma, *beta;
    T* y;
    float *mean, *invStd;
    std::int64_t width;
    float epsilon;

    LOCKSTEP_CARD void operator()(const Team<kTeam>& team) const {
        const T* const row = x + team.index() * width;
        T* const to = y + team.index() * width;
        const float size = static_cast<float>(width);
        const float center =
            team.template sum<float>(width, [&](std::int64_t i) { return static_cast<float>(row[i]); }) / size;
        const float squares = team.template sum<float>(width, [&](std::int64_t i) {
            const float deviation = static_cast<float>(row[i]) - center;
            return deviation * deviation;
        });
        const float scale = 1 / sqrtf(squares / size + epsilon);
        team.once([&] {
            mean[team.index()] = center;
            invStd[team.index()] = scale;
        });
        team.forEach(width, [&](std::int64_t i) {
            to[i] = T((static_cast<float>(row[i]) - center) * scale * static_cast<float>(gamma[i]) +
                      static_cast<float>(beta[i]));
        });
    }
};

// dx = invStd (g - sum(g) / C - x^ sum(g x^) / C) [+ added], g = gamma dy
template <class T>
struct LayerNormBackward {
    const T *x, *gamma, *dy, *added;  // added: null where nothing is
    const float *mean, *invStd;
    T* dx;
    std::int64_t width;

    LOCKSTEP_CARD void operator()(const Team<kTeam>& team) const {
        const std::int64_t first = team.index() * width;
        const float center = mean[team.index()], scale = invStd[team.index()], size = static_cast<float>(width);
        const auto normalised = [&](std::int64_t i) { return (static_cast<float>(x[first + i]) - center) * scale; };
        const auto gradient = [&](std::int64_t i) {
            return static_cast<float>(gamma[i]) * static_cast<float>(dy[first + i]);
        };
        const auto sums = team.template sum<Sums<2>>(width, [&](std::int64_t i) {
            return Sums<2>{{gradient(i), gradient(i) * normalised(i)}};
        });
        team.forEach(width, [&](std::int64_t i) {
            const float through = scale * (gradient(i) - sums.at[0] / size - normalised(i) * sums.at[1] / size);
            dx[first + i] = T(added ? through + static_cast<float>(added[first + i]) : through);
        });
    }
};

template <class T>
struct ParameterGradients {
    const T *x, *dy;
    const float *mean, *invStd;
    std::int64_t width;

    LOCKSTEP_CARD Sums<2> operator()(std::int64_t row, std::int64_t i) const {
        const float g = dy[row * width + i];
        return {{g * (static_cast<float>(x[row * width + i]) - mean[row]) * invStd[row], g}};
    }
};

template <class T>
struct StoreParameterGradients {
    T *dgamma, *dbeta;
    LOCKSTEP_CARD void operator()(std::int64_t i, const Sums<2, double>& sums) const {
        dgamma[i] = T(static_cast<float>(sums.at[0]));
        dbeta[i] = T(static_cast<float>(sums.at[1]));
    }
};

ColumnSums rowsOf(const Order& order) {
    const Shape& shape = order.inputShape(0);
    return {shape.count() / shape[-1], shape[-1]};
}

}  // namespace

std::unique_ptr<Kernel> makeLayerNorm(const Order& order) {
    const ColumnSums shape = rowsOf(order);
    const auto epsilon = static_cast<float>(order.node.attrs.as<LayerNormAttrs>().epsilon);
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [=](const KernelCall& call, cudaStream_t stream) {
            launchTeams<kTeam>(stream, shape.rows,
                               LayerNorm<T>{in<T>(call, 0), in<T>(call, 1), in<T>(call, 2), out<T>(call, 0),
                                            out<float>(call, 1), out<float>(call, 2), shape.columns, epsilon});
        });
    });
}

std::unique_ptr<Kernel> makeLayerNormBackward(const Order& order) {
    const ColumnSums shape = rowsOf(order);
    const bool adds = order.node.op == &kLayerNormBackwardAdd;
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(
            order.where(),
            [=](const KernelCall& call, cudaStream_t stream) {
                const T *x = in<T>(call, 0), *dy = in<T>(call, 4), *added = adds ? in<T>(call, 5) : nullptr;
                const float *mean = in<float>(call, 2), *invStd = in<float>(call, 3);
                launchColumnSums<2>(stream, shape, call.workspace,
                                    ParameterGradients<T>{x, dy, mean, invStd, shape.columns},
                                    StoreParameterGradients<T>{out<T>(call, 1), out<T>(call, 2)});
                launchTeams<kTeam>(
                    stream, shape.rows,
                    LayerNormBackward<T>{x, in<T>(call, 1), dy, added, mean, invStd, out<T>(call, 0), shape.columns});
            },
            shape.workspaceBytes(2));
    });
}

}  // namespace lockstep::cuda
