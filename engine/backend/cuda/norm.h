#pragma once
#include <cmath>

#include "engine/backend/cuda/column_sums.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/real.h"
#include "engine/backend/fusion/grad_mask.h"

// What batch norms are made of: x as a matrix of samples and pixels by channels.
namespace lockstep::cuda {

// Throws EngineError(Internal) where an image does not have its channels last.
ColumnSums channelSums(const Value& x);

// y = (x - mean) invStd gamma + beta, by channel.
template <class T>
struct Affine {
    const T *gamma = nullptr, *beta = nullptr;
    const float *mean = nullptr, *spread = nullptr;  // invStd or, where epsilon is not negative, the variance
    float epsilon = -1;

    LOCKSTEP_CARD float invStd(std::int64_t c) const {
        return epsilon < 0 ? spread[c] : 1 / sqrtf(spread[c] + epsilon);
    }
    LOCKSTEP_CARD float normalised(float x, std::int64_t c) const { return (x - mean[c]) * invStd(c); }
    LOCKSTEP_CARD float operator()(float x, std::int64_t c) const {
        return (x - mean[c]) * (invStd(c) * static_cast<float>(gamma[c])) + static_cast<float>(beta[c]);
    }
};

template <class T>
struct Branch {
    const T* x = nullptr;
    Affine<T> affine;
};

// y = norm of x [+ r, or the norm of r] [, negative values to zero]
template <class T>
struct Normalise {
    Branch<T> main;
    T* y;
    std::int64_t channels;
    Branch<T> other{};  // x: r; without gamma it is added as it is
    bool relu = false;

    template <int W>
    LOCKSTEP_CARD void run(std::int64_t i) const {
        const std::int64_t c = i % channels;
        auto pack = load<W>(main.x, i);
        Pack<T, W> added;
        if (other.x) added = load<W>(other.x, i);
        for (int k = 0; k < W; ++k) {
            float value = main.affine(pack.at[k], c + k);
            if (other.x)
                value += other.affine.gamma ? other.affine(added.at[k], c + k) : static_cast<float>(added.at[k]);
            pack.at[k] = T(relu && value < 0 ? 0.0f : value);
        }
        store(y, i, pack);
    }
};

// g = dy [+ dy2], where the ReLU behind the norm let it pass.
template <class T>
struct NormGradient {
    const T* dy;
    const T* dy2 = nullptr;
    GradMask mask = GradMask::None;
    const T* z = nullptr;  // FromOutput: of the ReLU
    Affine<T> affine{};    // Recomputed: what the ReLU saw, from x

    template <int W>
    LOCKSTEP_CARD Pack<float, W> at(std::int64_t i, std::int64_t c, const Pack<T, W>& x) const {
        Pack<float, W> g;
        const auto first = load<W>(dy, i);
        for (int k = 0; k < W; ++k) g.at[k] = first.at[k];
        if (dy2) {
            const auto second = load<W>(dy2, i);
            for (int k = 0; k < W; ++k) g.at[k] += static_cast<float>(second.at[k]);
        }
        if (mask == GradMask::FromOutput) {
            const auto output = load<W>(z, i);
            for (int k = 0; k < W; ++k)
                if (!(static_cast<float>(output.at[k]) > 0)) g.at[k] = 0;
        } else if (mask == GradMask::Recomputed) {
            for (int k = 0; k < W; ++k)
                if (!(affine(x.at[k], c + k) > 0)) g.at[k] = 0;
        }
        return g;
    }
};

// sum(g), then sum(g x^) of each branch, x^ = (x - mean) invStd
template <class T, int Branches>
struct GradientSums {
    NormGradient<T> gradient;
    Branch<T> branches[Branches] = {};
    std::int64_t channels;

    LOCKSTEP_CARD Sums<Branches + 1> operator()(std::int64_t row, std::int64_t c) const {
        const std::int64_t i = row * channels + c;
        const float g = gradient.template at<1>(i, c, load<1>(branches[0].x, i)).at[0];
        Sums<Branches + 1> sums{{g}};
        for (int b = 0; b < Branches; ++b) sums.at[b + 1] = g * branches[b].affine.normalised(branches[b].x[i], c);
        return sums;
    }
};

// dx = gamma invStd (g - sum(g) / n - x^ sum(g x^) / n); sums of the channels and the count lie on the card.
template <class T, class S>
struct NormBackward {
    NormGradient<T> gradient;
    Branch<T> main;
    T* dx;
    const S *sum, *dot, *count;
    std::int64_t channels;
    const T* added = nullptr;  // to dx
    T* kept = nullptr;         // g
    Branch<T> second{};        // another norm that the same g goes through
    const S* secondDot = nullptr;
    T* secondDx = nullptr;

    template <int W>
    LOCKSTEP_CARD void run(std::int64_t i) const {
        const std::int64_t c = i % channels;
        const auto x = load<W>(main.x, i);
        const Pack<float, W> g = gradient.template at<W>(i, c, x);
        Pack<T, W> to;
        if (kept) {
            for (int k = 0; k < W; ++k) to.at[k] = T(g.at[k]);
            store(kept, i, to);
        }
        Pack<T, W> more, other;
        if (added) more = load<W>(added, i);
        if (secondDx) other = load<W>(second.x, i);
        for (int k = 0; k < W; ++k) {
            const float through = slope(main.affine, dot, x.at[k], g.at[k], c + k);
            to.at[k] = T(added ? through + static_cast<float>(more.at[k]) : through);
        }
        store(dx, i, to);
        if (!secondDx) return;
        for (int k = 0; k < W; ++k) to.at[k] = T(slope(second.affine, secondDot, other.at[k], g.at[k], c + k));
        store(secondDx, i, to);
    }

private:
    LOCKSTEP_CARD float slope(const Affine<T>& affine, const S* dots, float x, float g, std::int64_t c) const {
        const auto share = 1 / static_cast<float>(*count);
        const float mean = static_cast<float>(sum[c]) * share, along = static_cast<float>(dots[c]) * share;
        return static_cast<float>(affine.gamma[c]) * affine.invStd(c) * (g - mean - affine.normalised(x, c) * along);
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

// The statistics of a channel, from sums over what its values are more than `about`, and over the squares of that.
struct Statistics {
    float epsilon, *mean, *invStd;
    RunningUpdate running;

    LOCKSTEP_CARD void operator()(std::int64_t c, double about, double sum, double squares, double count) const {
        const double shift = sum / count, found = about + shift;
        const double deviations = squares - shift * sum, atLeast = deviations < 0 ? 0 : deviations;
        mean[c] = static_cast<float>(found);
        invStd[c] = static_cast<float>(1 / sqrt(atLeast / count + epsilon));
        running(c, found, atLeast, count);
    }
};

}  // namespace lockstep::cuda
