#include "engine/backend/cpu/product.h"

#include "engine/backend/cpu/panels.h"

namespace lockstep::cpu {

namespace {

std::size_t divideUp(std::size_t a, std::size_t b) {
    return (a + b - 1) / b;
}

}  // namespace

Product::Product(const Machine& machine, const Matrix& a, const Matrix& b)
    : m_machine(machine), m_a(a), m_b(b), m_panels(divideUp(b.columns, machine.simd->panelColumns)) {
    const bool isSmall = a.rows * a.columns * b.columns < kSmallWork * 16;
    const std::size_t threads = isSmall ? 1 : static_cast<std::size_t>(machine.threads);
    m_gridColumns = std::min(m_panels, threads);
    m_gridRows = std::clamp<std::size_t>(threads / m_gridColumns, 1, divideUp(a.rows, 6));
}

void Product::run(const float* a, const float* b, const float* bias, bool relu, float* c, std::byte* workspace) const {
    inParts(static_cast<int>(m_gridRows * m_gridColumns), m_gridRows * m_gridColumns,
            [&](std::size_t part, std::size_t, std::size_t) {
                float* panel = reinterpret_cast<float*>(workspace) + part * panelFloats();
                const Range rows = partOf(m_a.rows, part / m_gridColumns, m_gridRows);
                const Range panels = partOf(m_panels, part % m_gridColumns, m_gridColumns);
                for (std::size_t i = panels.begin; i < panels.end; ++i)
                    multiply(a, b, bias, relu, c, panel, rows, i * width());
            });
}

void Product::multiply(const float* a, const float* b, const float* bias, bool relu, float* c, float* panel,
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
        packPanel(*m_machine.simd, b + at * m_b.rowStride + column * m_b.columnStride, m_b.rowStride, m_b.columnStride,
                  run.depth, run.columns, panel);
        m_machine.simd->gemmPanel(run);
    }
}

}  // namespace lockstep::cpu
