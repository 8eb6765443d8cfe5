#pragma once
#include <algorithm>
#include <cstddef>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

// A matrix in memory: rows or columns next to each other.
struct Matrix {
    std::size_t rows = 0, columns = 0, rowStride = 0, columnStride = 1;

    static Matrix rowMajor(std::size_t rows, std::size_t columns) { return {rows, columns, columns, 1}; }
    Matrix transposed() const { return {columns, rows, columnStride, rowStride}; }
};

// c = a b, c row-major. b is packed panel by panel into a place where the loops read it in one stream (Goto & van de
// Geijn, "Anatomy of high-performance matrix multiplication", TOMS 2008); a is read where it lies. The threads form a
// grid, as wide as there are panels, and a thread packs what it needs itself. The bits do not depend on the threads.
class Product {
public:
    Product(const Machine& machine, const Matrix& a, const Matrix& b);

    std::size_t workspaceBytes() const { return m_gridRows * m_gridColumns * panelFloats() * sizeof(float); }
    // bias: one per column, or null.
    void run(const float* a, const float* b, const float* bias, bool relu, float* c, std::byte* workspace) const;

private:
    static constexpr std::size_t kDepth = 384;  // of a panel that stays in the second-level cache

    std::size_t width() const { return m_machine.simd->panelColumns; }
    std::size_t depthOf(std::size_t at) const { return std::min(kDepth, m_a.columns - at); }
    std::size_t panelFloats() const { return std::min(kDepth, m_a.columns) * width(); }
    void multiply(const float* a, const float* b, const float* bias, bool relu, float* c, float* panel,
                  const Range& rows, std::size_t column) const;

    const Machine& m_machine;
    Matrix m_a, m_b;
    std::size_t m_panels, m_gridRows = 1, m_gridColumns = 1;
};

}  // namespace lockstep::cpu
