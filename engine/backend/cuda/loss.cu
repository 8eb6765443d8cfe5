#include "engine/ops/loss.h"

#include <cmath>

#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/grid.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/real.h"
#include "engine/ops/mixed_loss.h"

namespace lockstep::cuda {

namespace {

constexpr int kTeam = 128;     // of a row of logits
constexpr int kSumTeam = 512;  // of all rows' losses

// What the softmax of a row should be: one label's, or the mixture of two.
template <class T>
struct Targets {
    std::int64_t classes;
    float smoothing;
    const std::int32_t *labels, *others;  // others and lambda: null where labels are not mixed
    const T* lambda;

    LOCKSTEP_CARD bool counts(std::int64_t row) const { return labels[row] >= 0; }
    // A label that is no class, which a batch does not have, makes the loss not a number, so that the step is skipped.
    LOCKSTEP_CARD bool isWrong(std::int64_t row) const {
        return labels[row] >= classes || (others && (others[row] < 0 || others[row] >= classes));
    }
    LOCKSTEP_CARD float at(std::int64_t row, std::int64_t c) const {
        const float even = smoothing / static_cast<float>(classes);
        if (!others) return (labels[row] == c ? 1 - smoothing : 0) + even;
        const float first = static_cast<float>(lambda[row]);
        const float share = (labels[row] == c ? first : 0) + (others[row] == c ? 1 - first : 0);
        return (1 - smoothing) * share + even;
    }
};

// log(sum(exp(z))), with the largest logit taken out so that exp cannot overflow.
template <class T>
LOCKSTEP_CARD float logSumExp(const Team<kTeam>& team, const T* z, std::int64_t classes) {
    const float largest = team.reduce(
        classes, -INFINITY, [&](std::int64_t c) { return static_cast<float>(z[c]); },
        [](float a, float b) { return a != a || a > b ? a : b; });
    const float sum =
        team.template sum<float>(classes, [&](std::int64_t c) { return expf(static_cast<float>(z[c]) - largest); });
    return largest + logf(sum);
}

template <class T>
struct RowLosses {
    Targets<T> targets;
    const T* logits;
    float* losses;

    LOCKSTEP_CARD void operator()(const Team<kTeam>& team) const {
        const std::int64_t row = team.index();
        const T* const z = logits + row * targets.classes;
        const float logSum = logSumExp(team, z, targets.classes);
        float loss = team.template sum<float>(targets.classes, [&](std::int64_t c) {
            const float target = targets.at(row, c);
            return target != 0 ? target * (logSum - static_cast<float>(z[c])) : 0.0f;
        });
        if (targets.isWrong(row)) loss = NAN;
        team.once([&] { losses[row] = targets.counts(row) ? loss : 0; });
    }
};

// One team adds up what all rows left: of losses and of how many count.
template <class T>
struct SumLosses {
    Targets<T> targets;
    std::int64_t rows;
    const float* losses;
    double *lossSum, *weight;

    LOCKSTEP_CARD void operator()(const Team<kSumTeam>& team) const {
        const auto sums = team.template sum<Sums<2, double>>(rows, [&](std::int64_t row) {
            return Sums<2, double>{{losses[row], targets.counts(row) ? 1.0 : 0.0}};
        });
        team.once([&] {
            *lossSum = sums.at[0];
            *weight = sums.at[1];
        });
    }
};

template <class T>
struct LossBackward {
    Targets<T> targets;
    const T* logits;
    const double* dLossSum;
    const StepScalars* step;
    T* dlogits;

    LOCKSTEP_CARD void operator()(const Team<kTeam>& team) const {
        const std::int64_t row = team.index(), first = row * targets.classes;
        const float logSum = logSumExp(team, logits + first, targets.classes);
        const auto scale = static_cast<float>(*dLossSum * step->lossScale);
        team.forEach(targets.classes, [&](std::int64_t c) {
            const float slope = expf(static_cast<float>(logits[first + c]) - logSum) - targets.at(row, c);
            dlogits[first + c] = T(targets.counts(row) ? scale * slope : 0.0f);
        });
    }
};

template <class T>
struct RowHits {
    std::int64_t classes, k;
    const T* logits;
    const std::int32_t* labels;
    float* hits;

    LOCKSTEP_CARD void operator()(const Team<kTeam>& team) const {
        const std::int64_t row = team.index(), label = labels[row];
        const T* const z = logits + row * classes;
        const bool isClass = label >= 0 && label < classes;
        const float own = isClass ? static_cast<float>(z[label]) : NAN;
        const auto before = team.template sum<std::int64_t>(classes, [&](std::int64_t c) {
            const float other = z[c];
            return static_cast<std::int64_t>(c != label && !(other < own) && !(other == own && c > label));
        });
        team.once([&] { hits[row] = own == own && before < k ? 1.0f : 0.0f; });
    }
};

struct SumHits {
    std::int64_t rows;
    const float* hits;
    double* count;

    LOCKSTEP_CARD void operator()(const Team<kSumTeam>& team) const {
        const double sum =
            team.template sum<double>(rows, [&](std::int64_t row) { return static_cast<double>(hits[row]); });
        team.once([&] { *count = sum; });
    }
};

// The node's targets in one call.
class TargetsOf {
public:
    explicit TargetsOf(const Order& order)
        : m_classes(order.inputShape(0)[-1]),
          m_smoothing(static_cast<float>(order.node.attrs.as<CrossEntropyAttrs>().smoothing)),
          m_mixed(order.node.op == &kMixedCrossEntropy || order.node.op == &kMixedCrossEntropyBackward) {}

    template <class T>
    Targets<T> in(const KernelCall& call) const {
        return {m_classes, m_smoothing, cuda::in<std::int32_t>(call, 1),
                m_mixed ? cuda::in<std::int32_t>(call, 2) : nullptr, m_mixed ? cuda::in<T>(call, 3) : nullptr};
    }

private:
    std::int64_t m_classes;
    float m_smoothing;
    bool m_mixed;
};

std::int64_t rowsOf(const Order& order) { return order.inputShape(0).count() / order.inputShape(0)[-1]; }
std::size_t rowBytes(std::int64_t rows) { return static_cast<std::size_t>(rows) * sizeof(float); }

}  // namespace

std::unique_ptr<Kernel> makeCrossEntropy(const Order& order) {
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(
            order.where(),
            [targetsOf = TargetsOf(order), rows = rowsOf(order)](const KernelCall& call, cudaStream_t stream) {
                const auto targets = targetsOf.template in<T>(call);
                auto* const losses = reinterpret_cast<float*>(call.workspace);
                launchTeams<kTeam>(stream, rows, RowLosses<T>{targets, in<T>(call, 0), losses});
                launchTeams<kSumTeam>(stream, 1,
                                      SumLosses<T>{targets, rows, losses, out<double>(call, 0), out<double>(call, 1)});
            },
            rowBytes(rowsOf(order)));
    });
}

std::unique_ptr<Kernel> makeCrossEntropyBackward(const Order& order) {
    const std::size_t scaleAt = order.node.inputs.size() - 1;
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [targetsOf = TargetsOf(order), rows = rowsOf(order), scaleAt,
                                        step = order.device.scalars()](const KernelCall& call, cudaStream_t stream) {
            launchTeams<kTeam>(stream, rows,
                               LossBackward<T>{targetsOf.template in<T>(call), in<T>(call, 0),
                                               in<double>(call, scaleAt), step, out<T>(call, 0)});
        });
    });
}

std::unique_ptr<Kernel> makeTopKCount(const Order& order) {
    const std::int64_t rows = rowsOf(order), classes = order.inputShape(0)[-1], k = order.node.attrs.as<TopKAttrs>().k;
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(
            order.where(),
            [=](const KernelCall& call, cudaStream_t stream) {
                auto* const hits = reinterpret_cast<float*>(call.workspace);
                launchTeams<kTeam>(stream, rows,
                                   RowHits<T>{classes, k, in<T>(call, 0), in<std::int32_t>(call, 1), hits});
                launchTeams<kSumTeam>(stream, 1, SumHits{rows, hits, out<double>(call, 0)});
            },
            rowBytes(rows));
    });
}

}  // namespace lockstep::cuda
