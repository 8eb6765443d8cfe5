#pragma once
#include "engine/backend/cuda/column_sums.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/real.h"

// What batch norms are made of: x as a matrix of samples and pixels by channels.
namespace lockstep::cuda {

// Throws EngineError(Internal) where an image does not have its channels last.
ColumnSums channelSums(const Value& x);

// The float that statistics, gamma and beta of one channel are.
struct Statistics {
    const float *mean = nullptr, *invStd = nullptr;
};

// y = (x - mean) invStd gamma + beta
template <class T>
struct Normalise {
    const T* x;
    T* y;
    const T *gamma, *beta;
    Statistics statistics;
    std::int64_t channels;

    template <int W>
    LOCKSTEP_CARD void run(std::int64_t i) const {
        const std::int64_t c = i % channels;
        auto pack = load<W>(x, i);
        for (int k = 0; k < W; ++k) {
            const float scale = statistics.invStd[c + k] * static_cast<float>(gamma[c + k]);
            pack.at[k] =
                T((static_cast<float>(pack.at[k]) - statistics.mean[c + k]) * scale + static_cast<float>(beta[c + k]));
        }
        store(y, i, pack);
    }
};

// sum(dy), sum(dy x^) with x^ = (x - mean) invStd
template <class T>
struct GradientSums {
    const T *x, *dy;
    Statistics statistics;
    std::int64_t channels;

    LOCKSTEP_CARD Sums<2> operator()(std::int64_t row, std::int64_t c) const {
        const float g = dy[row * channels + c];
        return {{g, g * (static_cast<float>(x[row * channels + c]) - statistics.mean[c]) * statistics.invStd[c]}};
    }
};

// dx = gamma invStd (dy - sum(dy) / n - x^ sum(dy x^) / n); sums of the channels and the count lie on the card.
template <class T, class S>
struct NormBackward {
    const T *x, *dy;
    T* dx;
    const T* gamma;
    Statistics statistics;
    const S *sum, *dot, *count;
    std::int64_t channels;

    template <int W>
    LOCKSTEP_CARD void run(std::int64_t i) const {
        const std::int64_t c = i % channels;
        auto g = load<W>(dy, i);
        const auto in = load<W>(x, i);
        for (int k = 0; k < W; ++k) {
            const auto share = 1 / static_cast<float>(*count);
            const float invStd = statistics.invStd[c + k];
            const float normalised = (static_cast<float>(in.at[k]) - statistics.mean[c + k]) * invStd;
            const float mean = static_cast<float>(sum[c + k]) * share, slope = static_cast<float>(dot[c + k]) * share;
            g.at[k] = T(static_cast<float>(gamma[c + k]) * invStd *
                        (static_cast<float>(g.at[k]) - mean - normalised * slope));
        }
        store(dx, i, g);
    }
};

// The running statistics after one more batch; `squares` of the deviations from the mean, over count values.
struct RunningUpdate {
    float momentum;
    const float *runningMean, *runningVariance;
    float *newMean, *newVariance;

    LOCKSTEP_CARD void operator()(std::int64_t c, double mean, double squares, double count) const {
        const double unbiased = squares / (count > 1 ? count - 1 : 1);
        newMean[c] = static_cast<float>((1.0 - momentum) * runningMean[c] + momentum * mean);
        newVariance[c] = static_cast<float>((1.0 - momentum) * runningVariance[c] + momentum * unbiased);
    }
};

}  // namespace lockstep::cuda
