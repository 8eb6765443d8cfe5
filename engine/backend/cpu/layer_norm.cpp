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
    return forElementsOf(order.input(0), [&]<class T>(T) -> std::unique_ptr<Kernel> {
        return kernelOf([&machine = order.machine, rows = Rows(order.input(0)), epsilon](const KernelCall& call) {
            inParallel(machine.threads, rows.count, rows.count * rows.width, [&](std::size_t begin, std::size_t end) {
                machine.simd->of<T>().layerNorm({.x = in<T>(call, 0) + begin * rows.width,
                                                 .gamma = in(call, 1),
                                                 .beta = in(call, 2),
                                                 .y = out<T>(call, 0) + begin * rows.width,
                                                 .mean = out(call, 1) + begin,
                                                 .invStd = out(call, 2) + begin,
                                                 .rows = end - begin,
                                                 .width = rows.width,
                                                 .epsilon = epsilon});
            });
        });
    });
}

namespace {

// Each part of the rows has its own sums for gamma and beta, which are added in order in the end.
template <class T>
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
            m_simd.floats.addRow(out(call, 1), sumsOf(call, part), m_rows.width);
            m_simd.floats.addRow(out(call, 2), sumsOf(call, part) + m_rows.width, m_rows.width);
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
        m_simd.of<T>().layerNormBackward({.x = in<T>(call, 0) + at,
                                          .dy = in<T>(call, 4) + at,
                                          .addends = m_adds ? in<T>(call, 5) + at : nullptr,
                                          .gamma = in(call, 1),
                                          .mean = in(call, 2) + begin,
                                          .invStd = in(call, 3) + begin,
                                          .dx = out<T>(call, 0) + at,
                                          .dgamma = sums,
                                          .dbeta = sums + m_rows.width,
                                          .rows = end - begin,
                                          .width = m_rows.width});
    }

    const SimdTable& m_simd;
    Rows m_rows;
    bool m_adds;
    int m_parts;
};

}  // namespace

std::unique_ptr<Kernel> makeLayerNormBackward(const Order& order) {
    return forElementsOf(order.input(0), [&]<class T>(T) -> std::unique_ptr<Kernel> {
        return std::make_unique<LayerNormBackward<T>>(order);
    });
}

}  // namespace lockstep::cpu
