#include "engine/backend/cpu/batch_norm.h"
#include "engine/backend/cpu/fused_ops.h"

namespace lockstep::cpu {

namespace {

// Where the node's inputs and outputs are; see kBatchNormBackward and kNormBackward.
struct Ports {
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    std::size_t g1 = 0, x = 1, gamma = 2, mean = 3, invStd = 4, g2 = kNone, beta = kNone, z = kNone, second = kNone;
    std::size_t other = kNone, dx = 0;  // outputs; dgamma and dbeta follow dx, then those of the second norm
};

Ports portsOf(const Node& node, const FusedNormBackwardAttrs& attrs) {
    if (node.op == &kBatchNormBackward) return {.g1 = 4, .x = 0, .gamma = 1, .mean = 2, .invStd = 3};
    Ports ports;
    std::size_t next = 5;
    if (attrs.pair) ports.g2 = next++;
    if (attrs.mask == GradMask::Recomputed) ports.beta = next++;
    if (attrs.mask == GradMask::FromOutput) ports.z = next++;
    if (attrs.other == GradOther::Norm || attrs.other == GradOther::Added) ports.second = next;
    if (attrs.other == GradOther::Kept || attrs.other == GradOther::Norm) {
        ports.other = 0;
        ports.dx = 1;
    }
    return ports;
}

const float* optionalIn(const KernelCall& call, std::size_t port) {
    return port == Ports::kNone ? nullptr : in(call, port);
}

// How dx follows from g in one channel block: dx = scale g + slope (x - mean) + shift.
struct Chain {
    Affine affine;
    Pattern slope, shift;
};

template <class T>
class NormBackward final : public Kernel {
public:
    NormBackward(const Order& order, const FusedNormBackwardAttrs& attrs)
        : m_loops(order.machine.simd->of<T>()),
          m_attrs(attrs),
          m_ports(portsOf(order.node, attrs)),
          m_runs(inPieces(channelRuns(order.input(m_ports.x)))),
          m_items(m_runs, order.machine.threads) {}

    std::size_t workspaceBytes() const override { return static_cast<std::size_t>(m_items.parts()) * sizeof(Sums); }

    void run(const KernelCall& call) override {
        m_items.run([&](std::int64_t item) { sum(call, item); }, [&](std::int64_t item) { apply(call, item); });
    }

private:
    struct Sums {
        double s[16], q[16], r[16];
    };
    struct NormPlace {
        std::size_t gamma, mean, invStd, dgamma;
    };

    bool isSecond() const { return m_attrs.other == GradOther::Norm; }
    NormPlace firstNorm() const { return {m_ports.gamma, m_ports.mean, m_ports.invStd, m_ports.dx + 1}; }
    NormPlace secondNorm() const {
        return {m_ports.second + 1, m_ports.second + 2, m_ports.second + 3, m_ports.dx + 3};
    }
    Sums& sumsOf(const KernelCall& call, std::int64_t part) const {
        return reinterpret_cast<Sums*>(call.workspace)[part];
    }

    Affine affine(const KernelCall& call, std::int64_t block, const NormPlace& norm, const float* beta) const {
        return affineOf(m_runs, block, in(call, norm.gamma), beta, patternOf(m_runs, block, in(call, norm.mean)),
                        patternOf(m_runs, block, in(call, norm.invStd)));
    }

    // Over all blocks of an item, of one sample; `apart` from one's patterns to the next one's.
    GradRunOf<T> runOver(const KernelCall& call, std::int64_t sample, std::int64_t item, std::size_t apart) const {
        const std::size_t at = m_runs.at(sample, m_items.firstBlock(item));
        const auto read = [&](std::size_t port) { return port == Ports::kNone ? nullptr : in<T>(call, port) + at; };
        GradRunOf<T> run{.g1 = read(m_ports.g1),
                         .g2 = read(m_ports.g2),
                         .x = read(m_ports.x),
                         .z = read(m_ports.z),
                         .x2 = read(m_ports.second)};
        run.out = m_ports.other == Ports::kNone ? nullptr : out<T>(call, m_ports.other) + at;
        run.dx = out<T>(call, m_ports.dx) + at;
        m_items.span(run, m_runs, item, apart);
        return run;
    }

    static void setAffine(GradRunOf<T>& run, const Affine& first, const Affine& second) {
        run.mean = first.mean.lane;
        run.scale = first.scale.lane;
        run.offset = first.offset.lane;
        run.mean2 = second.mean.lane;
        run.scale2 = second.scale.lane;
    }

    void sum(const KernelCall& call, std::int64_t item) const {
        const std::int64_t first = m_items.firstBlock(item);
        const auto affines = m_items.ofBlocks(item, [&](std::int64_t block) {
            return std::array{affine(call, block, firstNorm(), optionalIn(call, m_ports.beta)),
                              isSecond() ? affine(call, block, secondNorm(), nullptr) : Affine{}};
        });
        NormItems::OfBlocks<Sums> sums{};
        Sums& all = sums.front();
        for (std::int64_t n = m_items.begin(item); n < m_items.end(item); ++n) {
            GradRunOf<T> run = runOver(call, n, item, kPatternsApart<std::array<Affine, 2>>);
            setAffine(run, affines.front()[0], affines.front()[1]);
            m_loops.gradSums(run, {all.s, all.q, all.r, kSumsApart<Sums>}, m_attrs.mask, m_attrs.pair, m_attrs.other);
        }
        for (std::int64_t block = first; block < m_items.endBlock(item); ++block) {
            Sums& found = sums[static_cast<std::size_t>(block - first)];
            m_runs.fold(found.s);
            m_runs.fold(found.q);
            m_runs.fold(found.r);
            sumsOf(call, m_items.part(block, m_items.slice(item))) = found;
        }
    }

    // Over the whole batch.
    Sums total(const KernelCall& call, std::int64_t block) const {
        Sums total{};
        for (std::int64_t slice = 0; slice < m_items.slices; ++slice) {
            const Sums& part = sumsOf(call, m_items.part(block, slice));
            for (int lane = 0; lane < m_runs.block; ++lane) {
                total.s[lane] += part.s[lane];
                total.q[lane] += part.q[lane];
                total.r[lane] += part.r[lane];
            }
        }
        return total;
    }

    // centred: the sums of g (x - mean). `writes`: also dgamma and dbeta.
    Chain chain(const KernelCall& call, std::int64_t block, bool writes, const NormPlace& norm, const float* beta,
                const double* g, const double* centred) const {
        const auto count = static_cast<double>(m_runs.samples * m_runs.pixels);
        Chain chain{affine(call, block, norm, beta), {}, {}};
        for (int lane = 0; lane < m_runs.block && m_runs.channel(block, lane) < m_runs.channels; ++lane) {
            const std::int64_t c = m_runs.channel(block, lane);
            const double invStd = in(call, norm.invStd)[c], scale = chain.affine.scale.lane[lane];
            for (int same = lane; same < 16; same += m_runs.block) {
                chain.slope.lane[same] = static_cast<float>(-scale * invStd * invStd * centred[lane] / count);
                chain.shift.lane[same] = static_cast<float>(-scale * g[lane] / count);
            }
            if (!writes) continue;
            out(call, norm.dgamma)[c] = static_cast<float>(centred[lane] * invStd);
            out(call, norm.dgamma + 1)[c] = static_cast<float>(g[lane]);
        }
        return chain;
    }

    std::array<Chain, 2> chains(const KernelCall& call, std::int64_t block, bool writes) const {
        const Sums sums = total(call, block);
        std::array<Chain, 2> chains{
            chain(call, block, writes, firstNorm(), optionalIn(call, m_ports.beta), sums.s, sums.q), {}};
        if (isSecond()) chains[1] = chain(call, block, writes, secondNorm(), nullptr, sums.s, sums.r);
        return chains;
    }

    void apply(const KernelCall& call, std::int64_t item) const {
        const auto all =
            m_items.ofBlocks(item, [&](std::int64_t block) { return chains(call, block, m_items.slice(item) == 0); });
        const auto& [one, two] = all.front();
        for (std::int64_t n = m_items.end(item); n-- > m_items.begin(item);) {
            GradRunOf<T> run = runOver(call, n, item, kPatternsApart<std::array<Chain, 2>>);
            setAffine(run, one.affine, two.affine);
            run.slope = one.slope.lane;
            run.shift = one.shift.lane;
            run.slope2 = two.slope.lane;
            run.shift2 = two.shift.lane;
            m_loops.gradApply(run, m_attrs.mask, m_attrs.pair, m_attrs.other);
        }
    }

    const Loops<T>& m_loops;
    FusedNormBackwardAttrs m_attrs;
    Ports m_ports;
    ChannelRuns m_runs;
    NormItems m_items;
};

}  // namespace

std::unique_ptr<Kernel> makeNormBackward(const Order& order) {
    const bool fused = order.node.op == &kNormBackward;
    const auto attrs = fused ? order.node.attrs.as<FusedNormBackwardAttrs>() : FusedNormBackwardAttrs{};
    return makeForImages<NormBackward>(order, order.input(portsOf(order.node, attrs).x), attrs);
}

}  // namespace lockstep::cpu
