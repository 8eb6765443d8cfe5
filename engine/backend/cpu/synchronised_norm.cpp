#include "engine/ops/synchronised_norm.h"

#include <algorithm>

#include "engine/backend/cpu/batch_norm.h"

namespace lockstep::cpu {

namespace {

struct LaneSums {
    double first[16], second[16];
};

// What the four kernels share: the channel blocks of x, and the threads' parts of them.
class SynchronisedNorm : public Kernel {
protected:
    explicit SynchronisedNorm(const Order& order)
        : m_simd(*order.machine.simd), m_runs(channelRuns(order.input(0))), m_items(m_runs, order.machine.threads) {}

    std::int64_t channels() const { return m_runs.channels; }
    int lanes(std::int64_t block) const {
        return static_cast<int>(std::min<std::int64_t>(m_runs.block, channels() - block * m_runs.block));
    }

    std::size_t sumBytes() const { return static_cast<std::size_t>(m_items.count()) * sizeof(LaneSums); }
    LaneSums& sumsOf(const KernelCall& call, std::int64_t item) const {
        return reinterpret_cast<LaneSums*>(call.workspace)[item];
    }
    LaneSums total(const KernelCall& call, std::int64_t block) const {
        LaneSums total{};
        for (std::int64_t slice = 0; slice < m_items.slices; ++slice) {
            const LaneSums& part = sumsOf(call, block * m_items.slices + slice);
            for (int lane = 0; lane < m_runs.block; ++lane) {
                total.first[lane] += part.first[lane];
                total.second[lane] += part.second[lane];
            }
        }
        return total;
    }

    // Every item, then each block of channels once.
    template <class Sum, class Conclude>
    void sumItems(const Sum& sum, const Conclude& conclude) {
        m_items.run(sum, [&](std::int64_t item) {
            if (m_items.slice(item) == 0) conclude(m_items.block(item));
        });
    }
    double ownCount() const { return static_cast<double>(m_runs.samples * m_runs.pixels); }
    void write(double* sums, std::int64_t channel, double first, double second) const {
        sums[channel] = first;
        sums[channels() + channel] = second;
        if (channel == 0) sums[2 * channels()] = ownCount();
    }

    const SimdTable& m_simd;
    ChannelRuns m_runs;
    NormItems m_items;
};

class NormSums final : public SynchronisedNorm {
public:
    explicit NormSums(const Order& order) : SynchronisedNorm(order) {}
    std::size_t workspaceBytes() const override { return sumBytes(); }

    void run(const KernelCall& call) override {
        sumItems([&](std::int64_t item) { sum(call, item); }, [&](std::int64_t block) { conclude(call, block); });
    }

private:
    void sum(const KernelCall& call, std::int64_t item) const {
        const std::int64_t block = m_items.block(item);
        const Pattern near = nearbyValues(m_runs, block, in(call, 0));
        LaneSums sums{};
        for (std::int64_t n = m_items.begin(item); n < m_items.end(item); ++n)
            m_simd.moments(in(call, 0) + m_runs.at(n, block), m_runs.length(block), near.lane, sums.first, sums.second);
        m_runs.fold(sums.first);
        m_runs.fold(sums.second);
        sumsOf(call, item) = sums;
    }

    // From sums about a value of this rank's to sums about the one that all ranks share.
    void conclude(const KernelCall& call, std::int64_t block) const {
        const Pattern near = nearbyValues(m_runs, block, in(call, 0));
        const LaneSums sums = total(call, block);
        for (int lane = 0; lane < lanes(block); ++lane) {
            const std::int64_t c = m_runs.channel(block, lane);
            const double shift = static_cast<double>(near.lane[lane]) - in(call, 1)[c], own = ownCount() * shift;
            write(out<double>(call, 0), c, sums.first[lane] + own,
                  sums.second[lane] + shift * (2 * sums.first[lane] + own));
        }
    }
};

class NormFromSums final : public SynchronisedNorm {
public:
    explicit NormFromSums(const Order& order)
        : SynchronisedNorm(order), m_attrs(order.node.attrs.as<BatchNormAttrs>()) {}

    void run(const KernelCall& call) override {
        m_items.run([](std::int64_t) {}, [&](std::int64_t item) { apply(call, item); });
    }

private:
    void apply(const KernelCall& call, std::int64_t item) const {
        const std::int64_t block = m_items.block(item);
        const Affine affine = settle(call, item);
        NormRun run{.mean = affine.mean.lane, .scale = affine.scale.lane, .offset = affine.offset.lane};
        run.count = m_runs.length(block);
        for (std::int64_t n = m_items.begin(item); n < m_items.end(item); ++n) {
            run.x = in(call, 0) + m_runs.at(n, block);
            run.y = out(call, 0) + m_runs.at(n, block);
            m_simd.norm(run, 0, false);
        }
    }

    // The statistics of the item's channel block; the block's first item writes them out.
    Affine settle(const KernelCall& call, std::int64_t item) const {
        const std::int64_t block = m_items.block(item);
        const double* sums = in<double>(call, 5);
        const double count = sums[2 * channels()];
        Pattern mean, invStd;
        for (int lane = 0; lane < lanes(block); ++lane) {
            const std::int64_t c = m_runs.channel(block, lane);
            const double shift = sums[c] / count, centre = in(call, 3)[c] + shift;
            const double variance = std::max(sums[channels() + c] / count - shift * shift, 0.0);
            for (int same = lane; same < 16; same += m_runs.block) {
                mean.lane[same] = static_cast<float>(centre);
                invStd.lane[same] = static_cast<float>(1 / std::sqrt(variance + m_attrs.epsilon));
            }
            if (m_items.slice(item) == 0) writeStatistics(call, {0, 1, m_attrs}, c, {centre, variance, count});
        }
        return affineOf(m_runs, block, in(call, 1), in(call, 2), mean, invStd);
    }

    BatchNormAttrs m_attrs;
};

// Inputs x, mean, invStd, dy.
class NormBackwardSums final : public SynchronisedNorm {
public:
    explicit NormBackwardSums(const Order& order) : SynchronisedNorm(order) {}
    std::size_t workspaceBytes() const override { return sumBytes(); }

    void run(const KernelCall& call) override {
        sumItems([&](std::int64_t item) { sum(call, item); }, [&](std::int64_t block) { conclude(call, block); });
    }

private:
    void sum(const KernelCall& call, std::int64_t item) const {
        const std::int64_t block = m_items.block(item);
        const Pattern mean = patternOf(m_runs, block, in(call, 1)), unused;
        GradRun run{.mean = mean.lane, .scale = unused.lane};
        run.count = m_runs.length(block);
        LaneSums sums{};
        for (std::int64_t n = m_items.begin(item); n < m_items.end(item); ++n) {
            run.x = in(call, 0) + m_runs.at(n, block);
            run.g1 = in(call, 3) + m_runs.at(n, block);
            m_simd.gradSums(run, {sums.first, sums.second, nullptr}, GradMask::None, false, false);
        }
        m_runs.fold(sums.first);
        m_runs.fold(sums.second);
        sumsOf(call, item) = sums;
    }

    void conclude(const KernelCall& call, std::int64_t block) const {
        const LaneSums sums = total(call, block);
        for (int lane = 0; lane < lanes(block); ++lane) {
            const std::int64_t c = m_runs.channel(block, lane);
            const double sum = sums.first[lane], dot = sums.second[lane] * in(call, 2)[c];
            write(out<double>(call, 0), c, sum, dot);
            out(call, 1)[c] = static_cast<float>(dot);
            out(call, 2)[c] = static_cast<float>(sum);
        }
    }
};

// Inputs x, gamma, mean, invStd, dy, sums. dx = scale dy + slope (x - mean) + shift.
class NormBackwardFromSums final : public SynchronisedNorm {
public:
    explicit NormBackwardFromSums(const Order& order) : SynchronisedNorm(order) {}

    void run(const KernelCall& call) override {
        m_items.run([](std::int64_t) {}, [&](std::int64_t item) { apply(call, item); });
    }

private:
    void apply(const KernelCall& call, std::int64_t item) const {
        const std::int64_t block = m_items.block(item);
        const Pattern mean = patternOf(m_runs, block, in(call, 2)), invStd = patternOf(m_runs, block, in(call, 3));
        const Affine affine = affineOf(m_runs, block, in(call, 1), nullptr, mean, invStd);
        const double* sums = in<double>(call, 5);
        const double count = sums[2 * channels()];
        Pattern slope, shift;
        for (int lane = 0; lane < 16; ++lane) {
            const std::int64_t c = m_runs.channel(block, lane);
            if (c >= channels()) continue;
            const double share = -affine.scale.lane[lane] / count;
            slope.lane[lane] = static_cast<float>(share * invStd.lane[lane] * sums[channels() + c]);
            shift.lane[lane] = static_cast<float>(share * sums[c]);
        }
        GradRun run{.mean = mean.lane, .scale = affine.scale.lane, .slope = slope.lane, .shift = shift.lane};
        run.count = m_runs.length(block);
        for (std::int64_t n = m_items.begin(item); n < m_items.end(item); ++n) {
            const std::size_t at = m_runs.at(n, block);
            run.x = in(call, 0) + at;
            run.g1 = in(call, 4) + at;
            run.dx = out(call, 0) + at;
            m_simd.gradApply(run, GradMask::None, false, GradOther::None);
        }
    }
};

}  // namespace

std::unique_ptr<Kernel> makeNormSums(const Order& order) { return std::make_unique<NormSums>(order); }

std::unique_ptr<Kernel> makeNormFromSums(const Order& order) { return std::make_unique<NormFromSums>(order); }

std::unique_ptr<Kernel> makeNormBackwardSums(const Order& order) { return std::make_unique<NormBackwardSums>(order); }

std::unique_ptr<Kernel> makeNormBackwardFromSums(const Order& order) {
    return std::make_unique<NormBackwardFromSums>(order);
}

}  // namespace lockstep::cpu
