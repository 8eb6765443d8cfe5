#pragma once
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

// What becomes of c once its sums are there; addends, slopes and gelu lie as c does. Null: nothing.
struct ProductEnd {
    const float* bias = nullptr;     // one per column
    const float* addends = nullptr;  // c += addends
    const float* slopes = nullptr;   // c *= gelu's slope there
    float* gelu = nullptr;           // gelu(c), which may be c
    bool relu = false;
};

// c = a b, c row-major; with operands in bf16 both are rounded to it as they are packed, and sums stay f32. Both are
// packed as the loops read them (Goto & van de Geijn, "Anatomy of high-performance matrix multiplication", TOMS 2008):
// panels of b's columns that stay in the first-level cache one after the other, blocks of a's rows that stay in the
// second. Each thread has rows or columns of its own, whichever are more, and packs what it needs itself. The bits do
// not depend on the threads.
class Product {
public:
    Product(const Machine& machine, const Matrix& a, const Matrix& b, DType operands = DType::F32);

    std::size_t workspaceBytes() const { return m_parts * (m_blockFloats + m_panelFloats) * sizeof(float); }
    void run(const float* a, const float* b, const ProductEnd& end, float* c, std::byte* workspace) const;

private:
    // Pairs: of bf16, for the processor's own instructions; Rounded: floats that are bf16.
    enum class Elements { Floats, Rounded, Pairs };
    struct Call {
        const float *a, *b;
        const ProductEnd& end;
        float *c, *block, *panels;
    };
    // Rows of a, columns of b, and what of their common extent.
    struct Extent {
        Range rows, columns, depth;
    };

    void multiply(const Call& call, const Range& rows, const Range& columns) const;
    void packRows(const float* a, const Extent& extent, float* block) const;
    void packColumns(const float* b, const Extent& extent, float* panels) const;
    void toElements(float* panels, std::size_t count, std::size_t width, std::size_t depth) const;
    void multiplyBlock(const Call& call, const Extent& extent) const;
    void finishBlock(const Call& call, const Extent& extent) const;

    const Machine& m_machine;
    Matrix m_a, m_b;
    Elements m_elements = Elements::Floats;
    bool m_splitsRows = true;
    std::size_t m_parts = 1, m_blockFloats = 0, m_panelFloats = 0;
};

}  // namespace lockstep::cpu
