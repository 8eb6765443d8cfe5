#include "engine/ops/layer_norm.h"

#include <algorithm>

#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

namespace {

struct Rows {
    std::size_t count, width;

    explicit Rows(const Value& x)
        : count(static_cast<std::size_t>(x.type.shape.count() / x.type.shape[-1])),
          width(static_cast<std::size_t>(x.type.shape[-1])) {}
};

}  // namespace

std::unique_ptr<Kernel> makeLayerNorm(const Order& order) {
    const auto epsilon = static_cast<float>(order.node.attrs.as<LayerNormAttrs>().epsilon);
    return kernelOf([&machine = order.machine, rows = Rows(order.input(0)), epsilon](const KernelCall& call) {
        inParallel(machine.threads, rows.count, rows.count * rows.width, [&](std::size_t begin, std::size_t end) {
            LayerNormRun run{.x = in(call, 0) + begin * rows.width, .gamma = in(call, 1), .beta = in(call, 2)};
            run.y = out(call, 0) + begin * rows.width;
            run.mean = out(call, 1) + begin;
            run.invStd = out(call, 2) + begin;
            run.rows = end - begin;
            run.width = rows.width;
            run.epsilon = epsilon;
            machine.simd->layerNorm(run);
        });
    });
}

namespace {

// Each part of the rows has its own sums for gamma and beta, which are added in order in the end.
class LayerNormBackward final : public Kernel {
public:
    explicit LayerNormBackward(const Order& order)
        : m_simd(*order.machine.simd),
          m_rows(order.input(0)),
          m_adds(order.node.op == &kLayerNormBackwardAdd),
          m_parts(m_rows.count * m_rows.width < kSmallWork ? 1 : order.machine.threads) {}

    std::size_t workspaceBytes() const override {
        return static_cast<std::size_t>(m_parts) * partFloats() * sizeof(float);
    }

    void run(const KernelCall& call) override {
        inParts(m_parts, m_rows.count, [&](std::size_t part, std::size_t begin, std::size_t end) {
            float* sums = sumsOf(call, part);
            std::fill_n(sums, partFloats(), 0.0f);
            runOver(call, begin, end, sums);
        });
        std::fill_n(out(call, 1), m_rows.width, 0.0f);
        std::fill_n(out(call, 2), m_rows.width, 0.0f);
        for (std::size_t part = 0; part < static_cast<std::size_t>(m_parts); ++part) {
            m_simd.addRow(out(call, 1), sumsOf(call, part), m_rows.width);
            m_simd.addRow(out(call, 2), sumsOf(call, part) + m_rows.width, m_rows.width);
        }
    }

private:
    // Parts begin in cache lines of their own.
    std::size_t partFloats() const { return (2 * m_rows.width + 15) / 16 * 16; }
    float* sumsOf(const KernelCall& call, std::size_t part) const {
        return reinterpret_cast<float*>(call.workspace) + part * partFloats();
    }

    void runOver(const KernelCall& call, std::size_t begin, std::size_t end, float* sums) const {
        const std::size_t at = begin * m_rows.width;
        LayerNormBackwardRun run{.x = in(call, 0) + at, .gamma = in(call, 1)};
        run.mean = in(call, 2) + begin;
        run.invStd = in(call, 3) + begin;
        run.dy = in(call, 4) + at;
        if (m_adds) run.addends = in(call, 5) + at;
        run.dx = out(call, 0) + at;
        run.dgamma = sums;
        run.dbeta = sums + m_rows.width;
        run.rows = end - begin;
        run.width = m_rows.width;
        m_simd.layerNormBackward(run);
    }

    const SimdTable& m_simd;
    Rows m_rows;
    bool m_adds;
    int m_parts;
};

}  // namespace

std::unique_ptr<Kernel> makeLayerNormBackward(const Order& order) { return std::make_unique<LayerNormBackward>(order); }

}  // namespace lockstep::cpu
