#include "engine/ops/dense.h"

#include <algorithm>

#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/panels.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

namespace {

// A matrix in memory: rows or columns next to each other.
struct Matrix {
    std::size_t rows = 0, columns = 0, rowStride = 0, columnStride = 1;

    static Matrix of(const Value& value) {
        const auto rows = static_cast<std::size_t>(value.type.shape[0]);
        const auto columns = static_cast<std::size_t>(value.type.shape[1]);
        return {rows, columns, columns, 1};
    }
    Matrix transposed() const { return {columns, rows, columnStride, rowStride}; }
};

// c = a b, c row-major. b is packed panel by panel into a place where the loops read it in one stream (Goto & van de
// Geijn, "Anatomy of high-performance matrix multiplication", TOMS 2008); a is read where it lies. The threads form a
// grid, as wide as there are panels, and a thread packs what it needs itself.
class Product {
public:
    Product(const Machine& machine, const Matrix& a, const Matrix& b)
        : m_machine(machine), m_a(a), m_b(b), m_panels(divideUp(b.columns, machine.simd->panelColumns)) {
        const bool isSmall = a.rows * a.columns * b.columns < kSmallWork * 16;
        const std::size_t threads = isSmall ? 1 : static_cast<std::size_t>(machine.threads);
        m_gridColumns = std::min(m_panels, threads);
        m_gridRows = std::clamp<std::size_t>(threads / m_gridColumns, 1, divideUp(a.rows, 6));
    }

    std::size_t workspaceBytes() const { return m_gridRows * m_gridColumns * panelFloats() * sizeof(float); }

    void run(const float* a, const float* b, const float* bias, bool relu, float* c, std::byte* workspace) const {
        inParts(static_cast<int>(m_gridRows * m_gridColumns), m_gridRows * m_gridColumns,
                [&](std::size_t part, std::size_t, std::size_t) {
                    float* panel = reinterpret_cast<float*>(workspace) + part * panelFloats();
                    const Range rows = partOf(m_a.rows, part / m_gridColumns, m_gridRows);
                    const Range panels = partOf(m_panels, part % m_gridColumns, m_gridColumns);
                    for (std::size_t i = panels.begin; i < panels.end; ++i)
                        multiply(a, b, bias, relu, c, panel, rows, i * width());
                });
    }

private:
    static constexpr std::size_t kDepth = 384;  // of a panel that stays in the second-level cache

    static std::size_t divideUp(std::size_t a, std::size_t b) { return (a + b - 1) / b; }
    std::size_t width() const { return m_machine.simd->panelColumns; }
    std::size_t depthOf(std::size_t at) const { return std::min(kDepth, m_a.columns - at); }
    std::size_t panelFloats() const { return std::min(kDepth, m_a.columns) * width(); }

    void multiply(const float* a, const float* b, const float* bias, bool relu, float* c, float* panel,
                  const Range& rows, std::size_t column) const {
        GemmRun run{.aRowStride = m_a.rowStride, .aDepthStride = m_a.columnStride, .panel = panel};
        run.rows = rows.end - rows.begin;
        run.columns = std::min(width(), m_b.columns - column);
        run.cRowStride = m_b.columns;
        run.c = c + rows.begin * m_b.columns + column;
        for (std::size_t at = 0; at < m_a.columns; at += kDepth) {
            const bool isLast = at + kDepth >= m_a.columns;
            run.depth = depthOf(at);
            run.a = a + rows.begin * m_a.rowStride + at * m_a.columnStride;
            run.adds = at > 0;
            run.bias = isLast && bias ? bias + column : nullptr;
            run.relu = isLast && relu;
            packPanel(*m_machine.simd, b + at * m_b.rowStride + column * m_b.columnStride, m_b.rowStride,
                      m_b.columnStride, run.depth, run.columns, panel);
            m_machine.simd->gemmPanel(run);
        }
    }

    const Machine& m_machine;
    Matrix m_a, m_b;
    std::size_t m_panels, m_gridRows = 1, m_gridColumns = 1;
};

// Each thread has columns of its own, so that sums do not depend on how many there are.
void addColumns(const Machine& machine, const float* rows, std::size_t count, std::size_t columns, float* sums) {
    inParallel(machine.threads, (columns + 15) / 16, count * columns, [&](std::size_t begin, std::size_t end) {
        const std::size_t at = begin * 16, width = std::min(end * 16, columns) - at;
        std::fill_n(sums + at, width, 0.0f);
        for (std::size_t n = 0; n < count; ++n) machine.simd->addRow(sums + at, rows + n * columns + at, width);
    });
}

}  // namespace

std::unique_ptr<Kernel> makeDense(const Order& order) {
    const Product product(order.machine, Matrix::of(order.input(0)), Matrix::of(order.input(1)).transposed());
    const bool hasBias = order.node.inputs.size() == 3, relu = order.node.op == &kDenseRelu;
    return kernelOf(
        [product, hasBias, relu](const KernelCall& call) {
            product.run(in(call, 0), in(call, 1), hasBias ? in(call, 2) : nullptr, relu, out(call, 0), call.workspace);
        },
        product.workspaceBytes());
}

std::unique_ptr<Kernel> makeDenseBackwardData(const Order& order) {
    const Product product(order.machine, Matrix::of(order.input(0)), Matrix::of(order.input(1)));
    return kernelOf(
        [product](const KernelCall& call) {
            product.run(in(call, 0), in(call, 1), nullptr, false, out(call, 0), call.workspace);
        },
        product.workspaceBytes());
}

std::unique_ptr<Kernel> makeDenseBackwardWeights(const Order& order) {
    const Matrix x = Matrix::of(order.input(0)), dy = Matrix::of(order.input(1));
    const Product product(order.machine, dy.transposed(), x);
    const bool hasBias = order.node.outputs.size() == 2;
    return kernelOf(
        [&machine = order.machine, product, dy, hasBias](const KernelCall& call) {
            product.run(in(call, 1), in(call, 0), nullptr, false, out(call, 0), call.workspace);
            if (hasBias) addColumns(machine, in(call, 1), dy.rows, dy.columns, out(call, 1));
        },
        product.workspaceBytes());
}

std::unique_ptr<Kernel> makeDenseBackwardBias(const Order& order) {
    return kernelOf([&machine = order.machine, dy = Matrix::of(order.input(0))](const KernelCall& call) {
        addColumns(machine, in(call, 0), dy.rows, dy.columns, out(call, 0));
    });
}

}  // namespace lockstep::cpu
