#include "engine/backend/cpu/batch_norm.h"

#include <algorithm>

#include "engine/backend/cpu/fused_ops.h"

namespace lockstep::cpu {

NormItems::NormItems(const ChannelRuns& runs, int deviceThreads)
    : blocks(runs.blocks),
      blocksOfItem(runs.step == 16 ? 1 : std::min(kMostBlocks, blocks)),
      samples(runs.samples),
      threads(runs.elements() < kSmallWork ? 1 : deviceThreads) {
    const std::int64_t wanted = threads, items = (blocks + blocksOfItem - 1) / blocksOfItem;
    if (items % wanted == 0 || items >= 8 * wanted) return;
    slices = std::min<std::int64_t>(samples, wanted);
}

Affine affineOf(const ChannelRuns& runs, std::int64_t block, const float* gamma, const float* beta, const Pattern& mean,
                const Pattern& invStd) {
    Affine affine{mean, patternOf(runs, block, gamma), {}};
    if (beta) affine.offset = patternOf(runs, block, beta);
    for (int lane = 0; lane < 16; ++lane) affine.scale.lane[lane] *= invStd.lane[lane];
    return affine;
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

// The affine forms of an item's blocks, each of both branches.
using Affines = NormItems::OfBlocks<std::array<Affine, 2>>;

// The rest of a forward pass once each channel has its affine form.
template <class T>
class NormPass {
public:
    NormPass(const Order& order, const FusedNormAttrs& attrs)
        : m_loops(order.machine.simd->of<T>()),
          m_runs(inPieces(channelRuns(order.input(0)))),
          m_items(m_runs, order.machine.threads),
          m_attrs(attrs),
          m_branches(branchesOf(attrs)) {}

    void apply(const KernelCall& call, std::int64_t item, const Affines& affines) const {
        const auto& [one, two] = affines.front();
        NormRunOf<T> run{.mean = one.mean.lane,
                         .scale = one.scale.lane,
                         .offset = one.offset.lane,
                         .mean2 = two.mean.lane,
                         .scale2 = two.scale.lane};
        m_items.span(run, m_runs, item, kPatternsApart<Affines::value_type>);
        // Backwards: what the first pass read last is still in the cache.
        for (std::int64_t n = m_items.end(item); n-- > m_items.begin(item);) {
            const std::size_t at = m_runs.at(n, m_items.firstBlock(item));
            run.x = in<T>(call, 0) + at;
            run.r = m_attrs.residual == Residual::None ? nullptr : in<T>(call, 5) + at;
            run.y = out<T>(call, 0) + at;
            m_loops.norm(run, static_cast<int>(m_attrs.residual), m_attrs.relu);
        }
    }

protected:
    // affineFor(block, branch) for an item's. The first branch's offset is that of both.
    template <class AffineOf>
    Affines affinesOf(std::int64_t item, const AffineOf& affineFor) const {
        return m_items.ofBlocks(item, [&](std::int64_t block) {
            std::array<Affine, 2> affines{affineFor(block, 0), {}};
            if (m_branches.size() == 1) return affines;
            auto& [one, two] = affines;
            two = affineFor(block, 1);
            for (std::size_t lane = 0; lane < 16; ++lane) one.offset.lane[lane] += two.offset.lane[lane];
            return affines;
        });
    }

    Pattern runningInvStd(const float* variance, std::int64_t block, double epsilon) const {
        Pattern invStd;
        for (int lane = 0; lane < 16; ++lane) {
            const std::int64_t c = m_runs.channel(block, lane);
            if (c < m_runs.channels) invStd.lane[lane] = static_cast<float>(1 / std::sqrt(variance[c] + epsilon));
        }
        return invStd;
    }

    const Loops<T>& m_loops;
    ChannelRuns m_runs;
    NormItems m_items;
    FusedNormAttrs m_attrs;
    std::vector<NormBranch> m_branches;
};

template <class T>
class NormTrain final : public Kernel, private NormPass<T> {
    using NormPass<T>::m_loops, NormPass<T>::m_runs, NormPass<T>::m_items, NormPass<T>::m_branches;

public:
    NormTrain(const Order& order, const FusedNormAttrs& attrs)
        : NormPass<T>(order, attrs), m_isStatistics(order.node.op == &kNormStatistics) {
        if (m_isStatistics) m_branches.front().output = 0;
    }

    std::size_t workspaceBytes() const override {
        return static_cast<std::size_t>(m_items.parts()) * m_branches.size() * sizeof(Moments);
    }

    void run(const KernelCall& call) override {
        m_items.run(
            [&](std::int64_t item) {
                for (std::size_t b = 0; b < m_branches.size(); ++b) sum(call, item, b);
            },
            [&](std::int64_t item) {
                const auto settled = [&](std::int64_t block, std::size_t b) {
                    return settle(call, block, m_items.slice(item), b);
                };
                const Affines affines = this->affinesOf(item, settled);
                if (!m_isStatistics) this->apply(call, item, affines);
            });
    }

private:
    Moments& momentsOf(const KernelCall& call, std::int64_t part, std::size_t branch) const {
        return reinterpret_cast<Moments*>(call.workspace)[static_cast<std::size_t>(part) * m_branches.size() + branch];
    }

    void sum(const KernelCall& call, std::int64_t item, std::size_t b) const {
        const T* x = in<T>(call, m_branches[b].input);
        const std::int64_t first = m_items.firstBlock(item);
        const auto shifts = m_items.ofBlocks(item, [&](std::int64_t block) { return nearbyValues(m_runs, block, x); });
        NormItems::OfBlocks<Moments> sums{};
        MomentsRunOf<T> run{.shift = shifts.front().lane};
        m_items.span(run, m_runs, item, kPatternsApart<Pattern>);
        for (std::int64_t n = m_items.begin(item); n < m_items.end(item); ++n) {
            run.x = x + m_runs.at(n, first);
            m_loops.moments(run, {sums.front().sum, sums.front().square, kSumsApart<Moments>});
        }
        for (std::int64_t block = first; block < m_items.endBlock(item); ++block) {
            Moments& moments = sums[static_cast<std::size_t>(block - first)];
            m_runs.fold(moments.sum);
            m_runs.fold(moments.square);
            momentsOf(call, m_items.part(block, m_items.slice(item)), b) = moments;
        }
    }

    // The statistics of a channel block over the whole batch; its first slice writes them out.
    Affine settle(const KernelCall& call, std::int64_t block, std::int64_t itsSlice, std::size_t b) const {
        const NormBranch& branch = m_branches[b];
        const Pattern shift = nearbyValues(m_runs, block, in<T>(call, branch.input));
        const auto count = static_cast<double>(m_runs.samples * m_runs.pixels);
        Pattern mean, invStd;
        for (int lane = 0; lane < m_runs.block && m_runs.channel(block, lane) < m_runs.channels; ++lane) {
            double sum = 0, square = 0;
            for (std::int64_t slice = 0; slice < m_items.slices; ++slice) {
                const Moments& part = momentsOf(call, m_items.part(block, slice), b);
                sum += part.sum[lane];
                square += part.square[lane];
            }
            const double offset = sum / count, variance = std::max(square / count - offset * offset, 0.0);
            const double centre = shift.lane[lane] + offset;
            for (int same = lane; same < 16; same += m_runs.block) {
                mean.lane[same] = static_cast<float>(centre);
                invStd.lane[same] = static_cast<float>(1 / std::sqrt(variance + branch.attrs.epsilon));
            }
            if (itsSlice == 0) writeStatistics(call, branch, m_runs.channel(block, lane), {centre, variance, count});
        }
        return affineOf(m_runs, block, in(call, branch.input + 1), in(call, branch.input + 2), mean, invStd);
    }

    bool m_isStatistics;
};

template <class T>
class NormEval final : public Kernel, private NormPass<T> {
    using NormPass<T>::m_runs, NormPass<T>::m_items, NormPass<T>::m_branches;

public:
    NormEval(const Order& order, const FusedNormAttrs& attrs) : NormPass<T>(order, attrs) {}

    void run(const KernelCall& call) override {
        const auto affine = [&](std::int64_t block, std::size_t b) { return running(call, m_branches[b], block); };
        m_items.run([](std::int64_t) {},
                    [&](std::int64_t item) { this->apply(call, item, this->affinesOf(item, affine)); });
    }

private:
    Affine running(const KernelCall& call, const NormBranch& branch, std::int64_t block) const {
        const Pattern mean = patternOf(m_runs, block, in(call, branch.input + 3));
        const Pattern invStd = this->runningInvStd(in(call, branch.input + 4), block, branch.attrs.epsilon);
        return affineOf(m_runs, block, in(call, branch.input + 1), in(call, branch.input + 2), mean, invStd);
    }
};

// The affine form of the forward pass, of the gradient and without its offsets.
template <class T>
class NormEvalBackward final : public Kernel, private NormPass<T> {
    using NormPass<T>::m_runs, NormPass<T>::m_items, NormPass<T>::m_attrs;

public:
    NormEvalBackward(const Order& order, const FusedNormAttrs& attrs) : NormPass<T>(order, attrs) {}

    void run(const KernelCall& call) override {
        const auto affine = [&](std::int64_t block, std::size_t) {
            const Pattern invStd = this->runningInvStd(in(call, 2), block, m_attrs.norm.epsilon);
            return affineOf(m_runs, block, in(call, 1), nullptr, {}, invStd);
        };
        m_items.run([](std::int64_t) {},
                    [&](std::int64_t item) { this->apply(call, item, this->affinesOf(item, affine)); });
    }
};

}  // namespace

std::unique_ptr<Kernel> makeNormTrain(const Order& order) {
    return makeForImages<NormTrain>(order, order.input(0), attrsOf(order.node));
}

std::unique_ptr<Kernel> makeNormEval(const Order& order) {
    return makeForImages<NormEval>(order, order.input(0), attrsOf(order.node));
}

std::unique_ptr<Kernel> makeFoldNorm(const Order& order) {
    const double epsilon = order.node.attrs.as<BatchNormAttrs>().epsilon;
    return kernelOf([epsilon, channels = order.output(0).type.shape[0]](const KernelCall& call) {
        const float *gamma = in(call, 0), *beta = in(call, 1), *mean = in(call, 2), *variance = in(call, 3);
        for (std::int64_t c = 0; c < channels; ++c) {
            const double scale = gamma[c] / std::sqrt(variance[c] + epsilon);
            out(call, 0)[c] = static_cast<float>(scale);
            out(call, 1)[c] = static_cast<float>(beta[c] - mean[c] * scale);
        }
    });
}

std::unique_ptr<Kernel> makeNormEvalBackward(const Order& order) {
    return makeForImages<NormEvalBackward>(order, order.input(0), attrsOf(order.node));
}

}  // namespace lockstep::cpu
