#include "engine/ops/synchronised_norm.h"

#include <algorithm>

#include "engine/backend/cpu/batch_norm.h"

namespace lockstep::cpu {

namespace {

struct LaneSums {
    double first[16], second[16];
};

// What the four kernels share: the channel blocks of x, and the threads' parts of them.
template <class T>
class SynchronisedNorm : public Kernel {
protected:
    explicit SynchronisedNorm(const Order& order)
        : m_loops(order.machine.simd->of<T>()),
          m_runs(inPieces(channelRuns(order.input(0)))),
          m_items(m_runs, order.machine.threads) {}

    std::int64_t channels() const { return m_runs.channels; }
    int lanes(std::int64_t block) const {
        return static_cast<int>(std::min<std::int64_t>(m_runs.block, channels() - block * m_runs.block));
    }

    std::size_t sumBytes() const { return static_cast<std::size_t>(m_items.parts()) * sizeof(LaneSums); }
    LaneSums& sumsOf(const KernelCall& call, std::int64_t block, std::int64_t slice) const {
        return reinterpret_cast<LaneSums*>(call.workspace)[m_items.part(block, slice)];
    }
    LaneSums total(const KernelCall& call, std::int64_t block) const {
        LaneSums total{};
        for (std::int64_t slice = 0; slice < m_items.slices; ++slice) {
            const LaneSums& part = sumsOf(call, block, slice);
            for (int lane = 0; lane < m_runs.block; ++lane) {
                total.first[lane] += part.first[lane];
                total.second[lane] += part.second[lane];
            }
        }
        return total;
    }

    // A run over all channel blocks of an item, whose patterns lie `apart`; loop(run, at) for each sample, from the
    // element where its first block is.
    template <class Run, class Loop>
    void overSamples(std::int64_t item, Run run, std::size_t apart, const Loop& loop) const {
        m_items.span(run, m_runs, item, apart);
        for (std::int64_t n = m_items.begin(item); n < m_items.end(item); ++n)
            loop(run, m_runs.at(n, m_items.firstBlock(item)));
    }

    // sum(item, sums of its blocks) for each item, then conclude(block).
    template <class Sum, class Conclude>
    void sumItems(const KernelCall& call, const Sum& sum, const Conclude& conclude) const {
        m_items.run(
            [&](std::int64_t item) {
                NormItems::OfBlocks<LaneSums> sums{};
                sum(item, sums.front());
                for (std::int64_t block = m_items.firstBlock(item); block < m_items.endBlock(item); ++block) {
                    LaneSums& own = sums[static_cast<std::size_t>(block - m_items.firstBlock(item))];
                    m_runs.fold(own.first);
                    m_runs.fold(own.second);
                    sumsOf(call, block, m_items.slice(item)) = own;
                }
            },
            [&](std::int64_t item) {
                if (m_items.slice(item) > 0) return;
                for (std::int64_t block = m_items.firstBlock(item); block < m_items.endBlock(item); ++block)
                    conclude(block);
            });
    }
    template <class Apply>
    void applyItems(const Apply& apply) const {
        m_items.run([](std::int64_t) {}, apply);
    }
    double ownCount() const { return static_cast<double>(m_runs.samples * m_runs.pixels); }
    void write(double* sums, std::int64_t channel, double first, double second) const {
        sums[channel] = first;
        sums[channels() + channel] = second;
        if (channel == 0) sums[2 * channels()] = ownCount();
    }

    const Loops<T>& m_loops;
    ChannelRuns m_runs;
    NormItems m_items;
};

template <class T>
class NormSums final : public SynchronisedNorm<T> {
    using SynchronisedNorm<T>::m_loops, SynchronisedNorm<T>::m_runs, SynchronisedNorm<T>::m_items;

public:
    explicit NormSums(const Order& order) : SynchronisedNorm<T>(order) {}
    std::size_t workspaceBytes() const override { return this->sumBytes(); }

    void run(const KernelCall& call) override {
        this->sumItems(
            call, [&](std::int64_t item, LaneSums& sums) { sum(call, item, sums); },
            [&](std::int64_t block) { conclude(call, block); });
    }

private:
    void sum(const KernelCall& call, std::int64_t item, LaneSums& sums) const {
        const T* x = in<T>(call, 0);
        const auto near = m_items.ofBlocks(item, [&](std::int64_t block) { return nearbyValues(m_runs, block, x); });
        this->overSamples(item, MomentsRunOf<T>{.shift = near.front().lane}, kPatternsApart<Pattern>,
                          [&](MomentsRunOf<T>& run, std::size_t at) {
                              run.x = x + at;
                              m_loops.moments(run, {sums.first, sums.second, kSumsApart<LaneSums>});
                          });
    }

    // From sums about a value of this rank's to sums about the one that all ranks share.
    void conclude(const KernelCall& call, std::int64_t block) const {
        const Pattern near = nearbyValues(m_runs, block, in<T>(call, 0));
        const LaneSums sums = this->total(call, block);
        for (int lane = 0; lane < this->lanes(block); ++lane) {
            const std::int64_t c = m_runs.channel(block, lane);
            const double shift = static_cast<double>(near.lane[lane]) - in(call, 1)[c], own = this->ownCount() * shift;
            this->write(out<double>(call, 0), c, sums.first[lane] + own,
                        sums.second[lane] + shift * (2 * sums.first[lane] + own));
        }
    }
};

template <class T>
class NormFromSums final : public SynchronisedNorm<T> {
    using SynchronisedNorm<T>::m_loops, SynchronisedNorm<T>::m_runs, SynchronisedNorm<T>::m_items;

public:
    explicit NormFromSums(const Order& order)
        : SynchronisedNorm<T>(order), m_attrs(order.node.attrs.as<BatchNormAttrs>()) {}

    void run(const KernelCall& call) override {
        this->applyItems([&](std::int64_t item) { apply(call, item); });
    }

private:
    void apply(const KernelCall& call, std::int64_t item) const {
        const auto affines =
            m_items.ofBlocks(item, [&](std::int64_t block) { return settle(call, block, m_items.slice(item) == 0); });
        const Affine& first = affines.front();
        const NormRunOf<T> all{.mean = first.mean.lane, .scale = first.scale.lane, .offset = first.offset.lane};
        this->overSamples(item, all, kPatternsApart<Affine>, [&](NormRunOf<T>& run, std::size_t at) {
            run.x = in<T>(call, 0) + at;
            run.y = out<T>(call, 0) + at;
            m_loops.norm(run, 0, false);
        });
    }

    // The statistics of a channel block; `writes`: also out.
    Affine settle(const KernelCall& call, std::int64_t block, bool writes) const {
        const double* sums = in<double>(call, 5);
        const double count = sums[2 * this->channels()];
        Pattern mean, invStd;
        for (int lane = 0; lane < this->lanes(block); ++lane) {
            const std::int64_t c = m_runs.channel(block, lane);
            const double shift = sums[c] / count, centre = in(call, 3)[c] + shift;
            const double variance = std::max(sums[this->channels() + c] / count - shift * shift, 0.0);
            for (int same = lane; same < 16; same += m_runs.block) {
                mean.lane[same] = static_cast<float>(centre);
                invStd.lane[same] = static_cast<float>(1 / std::sqrt(variance + m_attrs.epsilon));
            }
            if (writes) writeStatistics(call, {0, 1, m_attrs}, c, {centre, variance, count});
        }
        return affineOf(m_runs, block, in(call, 1), in(call, 2), mean, invStd);
    }

    BatchNormAttrs m_attrs;
};

// Inputs x, mean, invStd, dy.
template <class T>
class NormBackwardSums final : public SynchronisedNorm<T> {
    using SynchronisedNorm<T>::m_loops, SynchronisedNorm<T>::m_runs, SynchronisedNorm<T>::m_items;

public:
    explicit NormBackwardSums(const Order& order) : SynchronisedNorm<T>(order) {}
    std::size_t workspaceBytes() const override { return this->sumBytes(); }

    void run(const KernelCall& call) override {
        this->sumItems(
            call, [&](std::int64_t item, LaneSums& sums) { sum(call, item, sums); },
            [&](std::int64_t block) { conclude(call, block); });
    }

private:
    void sum(const KernelCall& call, std::int64_t item, LaneSums& sums) const {
        const auto means =
            m_items.ofBlocks(item, [&](std::int64_t block) { return patternOf(m_runs, block, in(call, 1)); });
        const GradSums all{sums.first, sums.second, nullptr, kSumsApart<LaneSums>};
        this->overSamples(item, GradRunOf<T>{.mean = means.front().lane}, kPatternsApart<Pattern>,
                          [&](GradRunOf<T>& run, std::size_t at) {
                              run.x = in<T>(call, 0) + at;
                              run.g1 = in<T>(call, 3) + at;
                              m_loops.gradSums(run, all, GradMask::None, false, GradOther::None);
                          });
    }

    void conclude(const KernelCall& call, std::int64_t block) const {
        const LaneSums sums = this->total(call, block);
        for (int lane = 0; lane < this->lanes(block); ++lane) {
            const std::int64_t c = m_runs.channel(block, lane);
            const double sum = sums.first[lane], dot = sums.second[lane] * in(call, 2)[c];
            this->write(out<double>(call, 0), c, sum, dot);
            out(call, 1)[c] = static_cast<float>(dot);
            out(call, 2)[c] = static_cast<float>(sum);
        }
    }
};

// Inputs x, gamma, mean, invStd, dy, sums. dx = scale dy + slope (x - mean) + shift.
template <class T>
class NormBackwardFromSums final : public SynchronisedNorm<T> {
    using SynchronisedNorm<T>::m_loops, SynchronisedNorm<T>::m_runs, SynchronisedNorm<T>::m_items;

public:
    explicit NormBackwardFromSums(const Order& order) : SynchronisedNorm<T>(order) {}

    void run(const KernelCall& call) override {
        this->applyItems([&](std::int64_t item) { apply(call, item); });
    }

private:
    struct Slopes {
        Affine affine;
        Pattern slope, shift;
    };

    void apply(const KernelCall& call, std::int64_t item) const {
        const auto slopes = m_items.ofBlocks(item, [&](std::int64_t block) { return slopesOf(call, block); });
        const Slopes& first = slopes.front();
        const GradRunOf<T> all{.mean = first.affine.mean.lane,
                               .scale = first.affine.scale.lane,
                               .slope = first.slope.lane,
                               .shift = first.shift.lane};
        this->overSamples(item, all, kPatternsApart<Slopes>, [&](GradRunOf<T>& run, std::size_t at) {
            run.x = in<T>(call, 0) + at;
            run.g1 = in<T>(call, 4) + at;
            run.dx = out<T>(call, 0) + at;
            m_loops.gradApply(run, GradMask::None, false, GradOther::None);
        });
    }

    Slopes slopesOf(const KernelCall& call, std::int64_t block) const {
        const Pattern mean = patternOf(m_runs, block, in(call, 2)), invStd = patternOf(m_runs, block, in(call, 3));
        Slopes made{affineOf(m_runs, block, in(call, 1), nullptr, mean, invStd), {}, {}};
        const double* sums = in<double>(call, 5);
        const double count = sums[2 * this->channels()];
        for (int lane = 0; lane < 16; ++lane) {
            const std::int64_t c = m_runs.channel(block, lane);
            if (c >= this->channels()) continue;
            const double share = -made.affine.scale.lane[lane] / count;
            made.slope.lane[lane] = static_cast<float>(share * invStd.lane[lane] * sums[this->channels() + c]);
            made.shift.lane[lane] = static_cast<float>(share * sums[c]);
        }
        return made;
    }
};

}  // namespace

std::unique_ptr<Kernel> makeNormSums(const Order& order) { return makeForImages<NormSums>(order, order.input(0)); }

std::unique_ptr<Kernel> makeNormFromSums(const Order& order) {
    return makeForImages<NormFromSums>(order, order.input(0));
}

std::unique_ptr<Kernel> makeNormBackwardSums(const Order& order) {
    return makeForImages<NormBackwardSums>(order, order.input(0));
}

std::unique_ptr<Kernel> makeNormBackwardFromSums(const Order& order) {
    return makeForImages<NormBackwardFromSums>(order, order.input(0));
}

}  // namespace lockstep::cpu
