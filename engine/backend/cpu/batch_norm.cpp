#include "engine/backend/cpu/batch_norm.h"

#include <algorithm>

#include "engine/backend/cpu/fused_ops.h"

namespace lockstep::cpu {

NormItems::NormItems(const ChannelRuns& runs, int deviceThreads)
    : blocks(runs.blocks), samples(runs.samples), threads(runs.floats() < kSmallWork ? 1 : deviceThreads) {
    const std::int64_t wanted = threads;
    if (blocks % wanted == 0 || blocks >= 8 * wanted) return;
    slices = std::min<std::int64_t>(samples, wanted);
}

Affine affineOf(const ChannelRuns& runs, std::int64_t block, const float* gamma, const float* beta, const Pattern& mean,
                const Pattern& invStd) {
    Affine affine{mean, patternOf(runs, block, gamma), {}};
    if (beta) affine.offset = patternOf(runs, block, beta);
    for (int lane = 0; lane < 16; ++lane) affine.scale.lane[lane] *= invStd.lane[lane];
    return affine;
}

Pattern nearbyValues(const ChannelRuns& runs, std::int64_t block, const float* x) {
    Pattern pattern;
    for (int lane = 0; lane < 16; ++lane) {
        const auto i = static_cast<std::size_t>(lane % runs.block);
        if (i < runs.length(block)) pattern.lane[lane] = x[runs.at(0, block) + i];
    }
    return pattern;
}

void writeStatistics(const KernelCall& call, const NormBranch& branch, std::int64_t channel,
                     const ChannelStatistics& statistics) {
    const auto& [mean, variance, count] = statistics;
    const double unbiased = count > 1 ? variance * count / (count - 1) : variance, momentum = branch.attrs.momentum;
    const auto average = [&](std::size_t port, double value) {
        return static_cast<float>((1 - momentum) * in(call, branch.input + port)[channel] + momentum * value);
    };
    out(call, branch.output)[channel] = static_cast<float>(mean);
    out(call, branch.output + 1)[channel] = static_cast<float>(1 / std::sqrt(variance + branch.attrs.epsilon));
    out(call, branch.output + 2)[channel] = average(3, mean);
    out(call, branch.output + 3)[channel] = average(4, unbiased);
}

namespace {

FusedNormAttrs attrsOf(const Node& node) {
    const bool fused = node.op == &kNormTrain || node.op == &kNormEval;
    return fused ? node.attrs.as<FusedNormAttrs>()
                 : FusedNormAttrs{.norm = node.attrs.as<BatchNormAttrs>(), .second = {}};
}

std::vector<NormBranch> branchesOf(const FusedNormAttrs& attrs) {
    std::vector<NormBranch> branches{{0, 1, attrs.norm}};
    if (attrs.residual == Residual::Norm) branches.push_back({5, 5, attrs.second});
    return branches;
}

struct Moments {
    double sum[16], square[16];
};

// The rest of a forward pass once each channel has its affine form.
class NormPass {
public:
    NormPass(const Order& order, const FusedNormAttrs& attrs)
        : m_simd(*order.machine.simd),
          m_runs(channelRuns(order.input(0))),
          m_items(m_runs, order.machine.threads),
          m_attrs(attrs),
          m_branches(branchesOf(attrs)) {}

    void apply(const KernelCall& call, std::int64_t item, const std::array<Affine, 2>& affine) const {
        Pattern offset = affine[0].offset;
        if (m_attrs.residual == Residual::Norm) {
            for (int lane = 0; lane < 16; ++lane) offset.lane[lane] += affine[1].offset.lane[lane];
        }
        NormRun run{.mean = affine[0].mean.lane,
                    .scale = affine[0].scale.lane,
                    .offset = offset.lane,
                    .mean2 = affine[1].mean.lane,
                    .scale2 = affine[1].scale.lane};
        const std::int64_t block = m_items.block(item);
        run.count = m_runs.length(block);
        const float* r = m_attrs.residual == Residual::None ? nullptr : in(call, 5);
        // Backwards: what the first pass read last is still in the cache.
        for (std::int64_t n = m_items.end(item); n-- > m_items.begin(item);) {
            const std::size_t at = m_runs.at(n, block);
            run.x = in(call, 0) + at;
            run.r = r ? r + at : nullptr;
            run.y = out(call, 0) + at;
            m_simd.norm(run, static_cast<int>(m_attrs.residual), m_attrs.relu);
        }
    }

protected:
    Pattern runningInvStd(const float* variance, std::int64_t block, double epsilon) const {
        Pattern invStd;
        for (int lane = 0; lane < 16; ++lane) {
            const std::int64_t c = m_runs.channel(block, lane);
            if (c < m_runs.channels) invStd.lane[lane] = static_cast<float>(1 / std::sqrt(variance[c] + epsilon));
        }
        return invStd;
    }

    const SimdTable& m_simd;
    ChannelRuns m_runs;
    NormItems m_items;
    FusedNormAttrs m_attrs;
    std::vector<NormBranch> m_branches;
};

class NormTrain final : public Kernel, private NormPass {
public:
    NormTrain(const Order& order, const FusedNormAttrs& attrs)
        : NormPass(order, attrs), m_isStatistics(order.node.op == &kNormStatistics) {
        if (m_isStatistics) m_branches.front().output = 0;
    }

    std::size_t workspaceBytes() const override {
        return static_cast<std::size_t>(m_items.count()) * m_branches.size() * sizeof(Moments);
    }

    void run(const KernelCall& call) override {
        m_items.run([&](std::int64_t item) { sum(call, item); },
                    [&](std::int64_t item) {
                        std::array<Affine, 2> affine;
                        for (std::size_t b = 0; b < m_branches.size(); ++b) affine[b] = settle(call, item, b);
                        if (!m_isStatistics) apply(call, item, affine);
                    });
    }

private:
    Moments& momentsOf(const KernelCall& call, std::int64_t item, std::size_t branch) const {
        return reinterpret_cast<Moments*>(call.workspace)[static_cast<std::size_t>(item) * m_branches.size() + branch];
    }

    void sum(const KernelCall& call, std::int64_t item) const {
        const std::int64_t block = m_items.block(item);
        for (std::size_t b = 0; b < m_branches.size(); ++b) {
            const float* x = in(call, m_branches[b].input);
            const Pattern shift = nearbyValues(m_runs, block, x);
            Moments moments{};
            for (std::int64_t n = m_items.begin(item); n < m_items.end(item); ++n)
                m_simd.moments(x + m_runs.at(n, block), m_runs.length(block), shift.lane, moments.sum, moments.square);
            m_runs.fold(moments.sum);
            m_runs.fold(moments.square);
            momentsOf(call, item, b) = moments;
        }
    }

    // The statistics of the item's channel block over the whole batch; the block's first item writes them out.
    Affine settle(const KernelCall& call, std::int64_t item, std::size_t b) const {
        const NormBranch& branch = m_branches[b];
        const std::int64_t block = m_items.block(item);
        const Pattern shift = nearbyValues(m_runs, block, in(call, branch.input));
        const auto count = static_cast<double>(m_runs.samples * m_runs.pixels);
        Pattern mean, invStd;
        for (int lane = 0; lane < m_runs.block && m_runs.channel(block, lane) < m_runs.channels; ++lane) {
            double sum = 0, square = 0;
            for (std::int64_t slice = 0; slice < m_items.slices; ++slice) {
                const Moments& part = momentsOf(call, block * m_items.slices + slice, b);
                sum += part.sum[lane];
                square += part.square[lane];
            }
            const double offset = sum / count, variance = std::max(square / count - offset * offset, 0.0);
            const double centre = shift.lane[lane] + offset;
            for (int same = lane; same < 16; same += m_runs.block) {
                mean.lane[same] = static_cast<float>(centre);
                invStd.lane[same] = static_cast<float>(1 / std::sqrt(variance + branch.attrs.epsilon));
            }
            if (m_items.slice(item) == 0)
                writeStatistics(call, branch, m_runs.channel(block, lane), {centre, variance, count});
        }
        return affineOf(m_runs, block, in(call, branch.input + 1), in(call, branch.input + 2), mean, invStd);
    }

    bool m_isStatistics;
};

class NormEval final : public Kernel, private NormPass {
public:
    NormEval(const Order& order, const FusedNormAttrs& attrs) : NormPass(order, attrs) {}

    void run(const KernelCall& call) override {
        m_items.run([](std::int64_t) {},
                    [&](std::int64_t item) {
                        std::array<Affine, 2> affine;
                        for (std::size_t b = 0; b < m_branches.size(); ++b)
                            affine[b] = running(call, m_branches[b], m_items.block(item));
                        apply(call, item, affine);
                    });
    }

private:
    Affine running(const KernelCall& call, const NormBranch& branch, std::int64_t block) const {
        const Pattern mean = patternOf(m_runs, block, in(call, branch.input + 3));
        const Pattern invStd = runningInvStd(in(call, branch.input + 4), block, branch.attrs.epsilon);
        return affineOf(m_runs, block, in(call, branch.input + 1), in(call, branch.input + 2), mean, invStd);
    }
};

// The affine form of the forward pass, of the gradient and without its offsets.
class NormEvalBackward final : public Kernel, private NormPass {
public:
    NormEvalBackward(const Order& order, const FusedNormAttrs& attrs) : NormPass(order, attrs) {}

    void run(const KernelCall& call) override {
        m_items.run([](std::int64_t) {},
                    [&](std::int64_t item) {
                        const std::int64_t block = m_items.block(item);
                        const Pattern invStd = runningInvStd(in(call, 2), block, m_attrs.norm.epsilon);
                        apply(call, item, {affineOf(m_runs, block, in(call, 1), nullptr, {}, invStd), {}});
                    });
    }
};

}  // namespace

std::unique_ptr<Kernel> makeNormTrain(const Order& order) {
    return std::make_unique<NormTrain>(order, attrsOf(order.node));
}

std::unique_ptr<Kernel> makeNormEval(const Order& order) {
    return std::make_unique<NormEval>(order, attrsOf(order.node));
}

std::unique_ptr<Kernel> makeNormEvalBackward(const Order& order) {
    return std::make_unique<NormEvalBackward>(order, attrsOf(order.node));
}

}  // namespace lockstep::cpu
