#pragma once
#include <cstddef>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

// A matrix in memory: rows or columns next to each other, or panels, which hold `panelWidth` columns each, row by row;
// the last one is filled up. Panels of pairs: of bf16, neighbours in a column side by side.
struct Matrix {
    std::size_t rows = 0, columns = 0, rowStride = 0, columnStride = 1, panelWidth = 0;
    bool isOfPairs = false;

    static Matrix rowMajor(std::size_t rows, std::size_t columns) { return {rows, columns, columns, 1}; }
    static Matrix inPanels(std::size_t rows, std::size_t columns, std::size_t width, bool ofPairs = false) {
        return {rows, columns, width, 1, width, ofPairs};
    }
    Matrix transposed() const { return {columns, rows, columnStride, rowStride}; }
};

// How a product is made, which its node's algorithm names. Bf16: see operandsOf(). Strassen: with seven eighths of the
// multiplications, and a few bits less of the small numbers of rows and columns that also hold large ones.
enum class Arithmetic { Plain, Bf16, Strassen };
inline constexpr const char* kStrassen = "strassen";
Arithmetic arithmeticOf(const Node& node);

// Whether Strassen's algorithm takes the product, and is faster.
bool suitsStrassen(const SimdTable& simd, std::int64_t rows, std::int64_t columns, std::int64_t depth);

// What becomes of c once its sums are there; addends, slopes and gelu lie as c does. Null: nothing.
struct ProductEnd {
    const float* bias = nullptr;     // one per column
    const float* addends = nullptr;  // c += addends
    const float* slopes = nullptr;   // c *= slopes
    float* gelu = nullptr;           // gelu(c); c becomes gelu's slope, unless this is c
    bool relu = false;
};

// c = a b, c row-major; with operands in bf16 both are rounded to it as they are packed, and sums stay f32. Both are
// packed as the loops read them (Goto & van de Geijn, "Anatomy of high-performance matrix multiplication", TOMS 2008):
// panels of b's columns that stay in the first-level cache one after the other, blocks of a's rows that stay in the
// second. Each thread has rows or columns of its own, whichever are more, and packs what it needs itself; a b that is
// in panels as wide as the instruction set's, of floats or with operands in bf16 of pairs, is read as it
// lies, by Strassen's algorithm copied panel by panel.
// The bits do not depend on the threads: by Strassen's algorithm, where rows and columns come in pairs, these are at a
// distance of their own within blocks, of which each thread has whole ones.
class Product {
public:
    Product(const Machine& machine, const Matrix& a, const Matrix& b, Arithmetic arithmetic = Arithmetic::Plain);

    // Of an a and b whose product is its own transpose, as that of a matrix with its transpose is, or of two symmetric
    // ones that commute: half of c is computed, and mirrored. Nothing may follow the sums.
    static Product symmetric(const Machine& machine, const Matrix& a, const Matrix& b);

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

    // Of b's columns: where the first lies, and how far the next is from each.
    struct Panels {
        const float* first;
        std::size_t stride;
    };

    // Rows and columns that stay together: panels, or pairs of some.
    std::size_t rowUnit() const;
    std::size_t columnUnit() const;
    std::size_t depthUnit() const;
    std::size_t panelRows(std::size_t depth) const;  // of a panel of b, each as wide as floats are
    std::size_t columnsAtOnce() const;

    Range partOfUnits(std::size_t units, std::size_t part) const;
    void multiply(const Call& call, const Range& rows, const Range& columns) const;
    std::size_t quarterFloats(const Extent& extent) const;
    void packQuarterRows(const float* a, const Extent& extent, float* block) const;
    void packQuarterColumns(const float* b, const Extent& extent, float* panels) const;
    Extent blockAfter(const Extent& extent, const Range& rows) const;
    ReadAhead readAhead(const float* a, const Extent& next) const;
    void multiplyQuarters(const Call& call, const Extent& extent, ReadAhead ahead) const;
    void packRows(const float* a, const Extent& extent, float* block) const;
    void packColumns(const float* b, const Extent& extent, float* panels) const;
    void toElements(float* panels, std::size_t count, std::size_t width, std::size_t depth) const;
    const float* panelAt(const float* b, std::size_t column, std::size_t row) const;
    Panels panelsOf(const Call& call, const Extent& extent, std::size_t depth) const;  // depth: rows of those packed
    void multiplyBlock(const Call& call, const Extent& extent) const;
    void finishBlock(const Call& call, const Extent& extent) const;
    void mirror(float* c) const;

    const Machine& m_machine;
    Matrix m_a, m_b;
    Elements m_elements = Elements::Floats;
    bool m_isStrassen = false, m_isSymmetric = false;
    bool m_splitsRows = true;
    std::size_t m_parts = 1, m_blockFloats = 0, m_panelFloats = 0;
};

}  // namespace lockstep::cpu
