#include "engine/backend/cpu/product.h"

#include <algorithm>
#include <cmath>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/panels.h"

namespace lockstep::cpu {

namespace {

constexpr std::size_t kDepth = 256, kColumns = 1024, kRowPanels = 8;
// By Strassen's algorithm: of a block of rows and of columns, the first half are paired with the second.
constexpr std::size_t kOperands = 7, kStrassenDepth = 256, kStrassenFloats = 512 * 512;
constexpr std::size_t kStrassenUnit = 2 * kStrassenParts;
constexpr std::size_t kPairedColumnPanels = 2;

std::size_t sizeOf(const Range& range) { return range.end - range.begin; }

// body(part) for parts of 0 to `count`, of about one size, none larger than `most`, and all but the last multiples of
// `unit`.
template <class Body>
void inPieces(std::size_t count, std::size_t most, std::size_t unit, Body body) {
    const std::size_t pieces = divideUp(count, most), units = divideUp(count, unit);
    for (std::size_t i = 0; i < pieces; ++i) {
        const Range piece = partOf(units, i, pieces);
        body(Range{piece.begin * unit, std::min(piece.end * unit, count)});
    }
}

// `depth` rows of `count` floats into panels as wide as `width`, all panels of a row at once. Rows may lie far apart,
// where the processor does not foresee them.
void splitRows(const SimdTable& simd, const float* from, std::size_t stride, std::size_t count, std::size_t depth,
               std::size_t width, float* panels) {
    constexpr std::size_t kAhead = 8;
    const std::size_t whole = count / width * width;
    for (std::size_t k = 0; k < depth; ++k, from += stride, panels += width) {
        for (std::size_t i = 0; i < count; i += 16) __builtin_prefetch(from + kAhead * stride + i);
        simd.copyRows(from, width, width, panels, width * depth, count / width);
        if (whole < count) simd.copyRows(from + whole, 0, count - whole, panels + whole * depth, 0, 1);
    }
}

// For `count` elements of c from `at` on, but for the bias and ReLU.
void finishElements(const SimdTable& simd, const ProductEnd& end, float* c, std::size_t at, std::size_t count) {
    float* const part = c + at;
    if (end.addends) simd.floats.add(part, end.addends + at, part, count);
    if (end.slopes) simd.floats.multiply(part, end.slopes + at, part, count);
    if (end.gelu == c) simd.floats.activation(ActivationKind::Gelu, part, part, count);
    if (end.gelu && end.gelu != c) simd.floats.geluAndSlope(part, end.gelu + at, count);
}

}  // namespace

Arithmetic arithmeticOf(const Node& node) {
    if (operandsOf(node) == DType::BF16) return Arithmetic::Bf16;
    return node.algorithm == kStrassen ? Arithmetic::Strassen : Arithmetic::Plain;
}

bool suitsStrassen(const SimdTable& simd, std::int64_t rows, std::int64_t columns, std::int64_t depth) {
    constexpr std::int64_t kEnoughRows = 256, kEnoughColumns = 128, kEnoughDepth = 128;
    const auto unit = static_cast<std::int64_t>(2 * kPairedColumnPanels * simd.panelColumns);
    return columns % unit == 0 && depth % kStrassenUnit == 0 && rows >= kEnoughRows && columns >= kEnoughColumns &&
           depth >= kEnoughDepth;
}

Product::Product(const Machine& machine, const Matrix& a, const Matrix& b, Arithmetic arithmetic)
    : m_machine(machine),
      m_a(a),
      m_b(b),
      m_isStrassen(arithmetic == Arithmetic::Strassen),
      m_splitsRows(a.rows >= b.columns) {
    const bool arePairs = machine.multipliesPairs || b.isOfPairs;
    if (arithmetic == Arithmetic::Bf16) m_elements = arePairs ? Elements::Pairs : Elements::Rounded;
    const SimdTable& simd = *machine.simd;
    const bool isSmall = a.rows * a.columns * b.columns < kSmallWork * 16;
    const std::size_t items = m_splitsRows ? divideUp(a.rows, rowUnit()) : divideUp(b.columns, columnUnit());
    m_parts = isSmall ? 1 : std::min(items, static_cast<std::size_t>(machine.threads));
    if (m_isStrassen) {
        const std::size_t depth = std::min(kStrassenDepth, a.columns);
        m_blockFloats = roundUp(kOperands * kStrassenPanels * simd.panelRows * depth / 2 + 16, 16);
        m_panelFloats = kOperands * std::min(columnsAtOnce(), b.columns) / 2 * depth / 2;
        return;
    }
    const std::size_t depth = std::min(kDepth, a.columns);
    m_blockFloats = roundUp(std::min(kRowPanels * simd.panelRows, a.rows), simd.panelRows) * depth + 16;
    m_blockFloats = roundUp(m_blockFloats, 16);
    if (b.panelWidth == 0) m_panelFloats = roundUp(std::min(kColumns, b.columns), simd.panelColumns) * depth;
}

Product Product::symmetric(const Machine& machine, const Matrix& a, const Matrix& b) {
    Product product(machine, a, b);
    product.m_isSymmetric = true;
    return product;
}

std::size_t Product::rowUnit() const { return m_machine.simd->panelRows * (m_isStrassen ? 2 * kStrassenPanels : 1); }
std::size_t Product::columnUnit() const {
    return m_machine.simd->panelColumns * (m_isStrassen ? 2 * kPairedColumnPanels : 1);
}
std::size_t Product::depthUnit() const {
    if (m_isStrassen) return kStrassenUnit;
    return m_elements == Elements::Pairs ? 2 : 1;
}
std::size_t Product::panelRows(std::size_t depth) const {
    return m_elements == Elements::Pairs ? divideUp(depth, 2) : depth;
}
std::size_t Product::columnsAtOnce() const {
    return m_isStrassen ? kStrassenFloats / std::min(kStrassenDepth, m_a.columns) / columnUnit() * columnUnit()
                        : kColumns;
}

void Product::run(const float* a, const float* b, const ProductEnd& end, float* c, std::byte* workspace) const {
    const std::size_t unit = m_splitsRows ? rowUnit() : columnUnit();
    const std::size_t whole = m_splitsRows ? m_a.rows : m_b.columns;
    inParts(static_cast<int>(m_parts), m_parts, [&](std::size_t part, std::size_t, std::size_t) {
        float* block = reinterpret_cast<float*>(workspace) + part * (m_blockFloats + m_panelFloats);
        const Range units = partOfUnits(divideUp(whole, unit), part);
        const Range mine{units.begin * unit, std::min(units.end * unit, whole)};
        const Call call{a, b, end, c, block, block + m_blockFloats};
        if (m_splitsRows) multiply(call, mine, {0, m_isSymmetric ? mine.end : m_b.columns});
        else multiply(call, {0, m_a.rows}, mine);
    });
    if (m_isSymmetric) mirror(c);
}

// Of a triangle, rows of about one area.
Range Product::partOfUnits(std::size_t units, std::size_t part) const {
    if (!m_isSymmetric) return partOf(units, part, m_parts);
    const auto begin = [&](std::size_t of) {
        const double share = static_cast<double>(of) / static_cast<double>(m_parts);
        return static_cast<std::size_t>(std::lround(static_cast<double>(units) * std::sqrt(share)));
    };
    return {begin(part), begin(part + 1)};
}

void Product::multiply(const Call& call, const Range& rows, const Range& columns) const {
    const SimdTable& simd = *m_machine.simd;
    const std::size_t rowsAtOnce = m_isStrassen ? rowUnit() : kRowPanels * simd.panelRows;
    for (std::size_t column = columns.begin; column < columns.end; column += columnsAtOnce()) {
        Extent extent{rows, {column, std::min(column + columnsAtOnce(), columns.end)}, {}};
        inPieces(m_a.columns, m_isStrassen ? kStrassenDepth : kDepth, depthUnit(), [&](const Range& depth) {
            extent.depth = depth;
            if (m_isStrassen) {
                packQuarterColumns(call.b, extent, call.panels);
            } else if (m_b.panelWidth == 0) {
                packColumns(call.b, extent, call.panels);
                toElements(call.panels, divideUp(sizeOf(extent.columns), simd.panelColumns), simd.panelColumns,
                           sizeOf(depth));
            }
            for (std::size_t row = rows.begin; row < rows.end; row += rowsAtOnce) {
                extent.rows = {row, std::min(row + rowsAtOnce, rows.end)};
                if (m_isStrassen) {
                    packQuarterRows(call.a, extent, call.block);
                    multiplyQuarters(call, extent, readAhead(call.a, blockAfter(extent, rows)));
                } else {
                    packRows(call.a, extent, call.block);
                    toElements(call.block, divideUp(sizeOf(extent.rows), simd.panelRows), simd.panelRows,
                               sizeOf(depth));
                    multiplyBlock(call, extent);
                }
                if (depth.end == m_a.columns) finishBlock(call, extent);
            }
        });
    }
}

// Floats of an operand of a block of rows: the upper half's, in whole panels.
std::size_t Product::quarterFloats(const Extent& extent) const {
    const std::size_t half = divideUp(sizeOf(extent.rows), 2);
    return roundUp(half, m_machine.simd->panelRows) * sizeOf(extent.depth) / 2;
}

// Rows that a half does not have count as zero.
void Product::packQuarterRows(const float* a, const Extent& extent, float* block) const {
    const std::size_t depth = sizeOf(extent.depth) / 2, stride = quarterFloats(extent);
    const Range upper{extent.rows.begin, extent.rows.begin + divideUp(sizeOf(extent.rows), 2)};
    const Range lower{upper.end, extent.rows.end};
    const Range left{extent.depth.begin, extent.depth.begin + depth}, right{left.end, extent.depth.end};
    const auto pack = [&](const Range& rows, const Range& columns, std::size_t operand) {
        float* to = block + operand * stride;
        if (sizeOf(rows) * depth < stride) std::fill_n(to, stride, 0.0f);
        packRows(a, {rows, {}, columns}, to);
    };
    pack(upper, left, 0);
    pack(upper, right, 1);
    pack(lower, left, 2);
    pack(lower, right, 6);
    m_machine.simd->strassenRows(block, stride, stride);
}

void Product::packQuarterColumns(const float* b, const Extent& extent, float* panels) const {
    const std::size_t half = columnUnit() / 2, depth = sizeOf(extent.depth) / 2;
    const std::size_t stride = sizeOf(extent.columns) / 2 * depth;
    const Range upper{extent.depth.begin, extent.depth.begin + depth}, lower{upper.end, extent.depth.end};
    for (std::size_t column = extent.columns.begin; column < extent.columns.end; column += 2 * half) {
        float* const to = panels + (column - extent.columns.begin) / 2 * depth;
        const Range left{column, column + half}, right{left.end, left.end + half};
        packColumns(b, {{}, left, upper}, to);
        packColumns(b, {{}, left, lower}, to + stride);
        packColumns(b, {{}, right, upper}, to + 2 * stride);
        packColumns(b, {{}, right, lower}, to + 5 * stride);
    }
    m_machine.simd->strassenColumns(panels, stride, stride);
}

// Of the next depth, once all rows were multiplied; nothing after the last one.
Product::Extent Product::blockAfter(const Extent& extent, const Range& rows) const {
    const auto upTo = [](std::size_t begin, std::size_t count, std::size_t end) {
        return Range{begin, std::min(begin + count, end)};
    };
    if (extent.rows.end < rows.end) return {upTo(extent.rows.end, rowUnit(), rows.end), extent.columns, extent.depth};
    return {upTo(rows.begin, rowUnit(), rows.end), extent.columns,
            upTo(extent.depth.end, sizeOf(extent.depth), m_a.columns)};
}

// Of a, as it lies in memory: in as many steps as there are parts of tiles in a block.
ReadAhead Product::readAhead(const float* a, const Extent& next) const {
    const bool isByColumns = m_a.rowStride == 1;
    const std::size_t parts =
        kOperands * kStrassenPanels * kStrassenParts * sizeOf(next.columns) / 2 / m_machine.simd->panelColumns;
    ReadAhead ahead{.row = a + next.rows.begin * m_a.rowStride + next.depth.begin * m_a.columnStride};
    ahead.stride = isByColumns ? m_a.columnStride : m_a.rowStride;
    ahead.rows = sizeOf(isByColumns ? next.depth : next.rows);
    ahead.width = sizeOf(isByColumns ? next.rows : next.depth);
    ahead.linesOfPart = divideUp(ahead.rows * divideUp(ahead.width, 16), parts);
    return ahead;
}

void Product::multiplyQuarters(const Call& call, const Extent& extent, ReadAhead ahead) const {
    const SimdTable& simd = *m_machine.simd;
    const std::size_t right = columnUnit() / 2, width = simd.panelColumns;
    const bool isLast = extent.depth.end == m_a.columns;
    StrassenRun run{.depth = sizeOf(extent.depth) / 2};
    run.aStride = quarterFloats(extent);
    run.bStride = sizeOf(extent.columns) / 2 * run.depth;
    run.a = call.block;
    run.ahead = &ahead;
    run.cRowStride = m_b.columns;
    run.upperRows = run.lower = divideUp(sizeOf(extent.rows), 2);
    run.lowerRows = sizeOf(extent.rows) - run.upperRows;
    run.panels = divideUp(run.upperRows, simd.panelRows);
    run.right = right;
    run.adds = extent.depth.begin > 0;
    run.relu = isLast && call.end.relu;
    for (std::size_t pair = 0; pair < sizeOf(extent.columns) / 2; pair += width) {
        const std::size_t column = extent.columns.begin + pair / right * 2 * right + pair % right;
        run.b = call.panels + pair * run.depth;
        run.bias = isLast && call.end.bias ? call.end.bias + column : nullptr;
        run.c = call.c + extent.rows.begin * m_b.columns + column;
        simd.strassenTiles(run);
    }
}

// A panel of lanes writes a little beyond its end, which the next one writes over.
void Product::packRows(const float* a, const Extent& extent, float* block) const {
    const std::size_t width = m_machine.simd->panelRows, depth = sizeOf(extent.depth);
    const float* from = a + extent.rows.begin * m_a.rowStride + extent.depth.begin * m_a.columnStride;
    if (m_a.rowStride == 1)
        return splitRows(*m_machine.simd, from, m_a.columnStride, sizeOf(extent.rows), depth, width, block);
    for (std::size_t row = 0; row < sizeOf(extent.rows); row += width)
        m_machine.simd->rowsToLanes(from + row * m_a.rowStride, m_a.rowStride,
                                    std::min(width, sizeOf(extent.rows) - row), block + row * depth, width, depth);
}

void Product::packColumns(const float* b, const Extent& extent, float* panels) const {
    const std::size_t width = m_machine.simd->panelColumns, depth = sizeOf(extent.depth);
    if (m_b.panelWidth > 0) {
        for (std::size_t column = extent.columns.begin; column < extent.columns.end; column += width)
            panels = std::copy_n(panelAt(b, column, extent.depth.begin), width * depth, panels);
        return;
    }
    const float* from = b + extent.depth.begin * m_b.rowStride + extent.columns.begin * m_b.columnStride;
    const std::size_t whole = m_b.columnStride == 1 ? sizeOf(extent.columns) / width * width : 0;
    if (whole > 0) splitRows(*m_machine.simd, from, m_b.rowStride, whole, depth, width, panels);
    for (std::size_t column = whole; column < sizeOf(extent.columns); column += width)
        packPanel(*m_machine.simd, from + column * m_b.columnStride, m_b.rowStride, m_b.columnStride, depth,
                  std::min(width, sizeOf(extent.columns) - column), panels + column * depth);
}

void Product::toElements(float* panels, std::size_t count, std::size_t width, std::size_t depth) const {
    if (m_elements == Elements::Rounded) m_machine.simd->roundToBf16(panels, count * width * depth);
    if (m_elements == Elements::Pairs) m_machine.bf16->toPairs(panels, count, width, depth);
}

Product::Panels Product::panelsOf(const Call& call, const Extent& extent, std::size_t depth) const {
    const std::size_t width = m_machine.simd->panelColumns;
    if (m_b.panelWidth == 0) return {call.panels, width * depth};
    return {panelAt(call.b, extent.columns.begin, extent.depth.begin), width * panelRows(m_b.rows)};
}

// Where b lies in panels.
const float* Product::panelAt(const float* b, std::size_t column, std::size_t row) const {
    return b + column * panelRows(m_b.rows) + panelRows(row) * m_b.panelWidth;
}

void Product::multiplyBlock(const Call& call, const Extent& extent) const {
    const std::size_t width = m_machine.simd->panelColumns;
    const bool isLast = extent.depth.end == m_a.columns;
    GemmRun run{.a = call.block};
    run.rows = sizeOf(extent.rows);
    run.depth = panelRows(sizeOf(extent.depth));
    const Panels panels = panelsOf(call, extent, run.depth);
    run.panel = panels.first;
    run.cRowStride = m_b.columns;
    run.adds = extent.depth.begin > 0;
    run.relu = isLast && call.end.relu;
    const auto gemm = m_elements == Elements::Pairs ? m_machine.bf16->gemm : m_machine.simd->gemmPacked;
    const std::size_t end = m_isSymmetric ? std::min(extent.rows.end, extent.columns.end) : extent.columns.end;
    for (std::size_t column = extent.columns.begin; column < end; column += width) {
        run.columns = std::min(width, extent.columns.end - column);
        run.bias = isLast && call.end.bias ? call.end.bias + column : nullptr;
        run.c = call.c + extent.rows.begin * m_b.columns + column;
        gemm(run);
        run.panel += panels.stride;
    }
}

// While the block is in the cache.
void Product::finishBlock(const Call& call, const Extent& extent) const {
    const std::size_t count = sizeOf(extent.columns);
    for (std::size_t row = extent.rows.begin; row < extent.rows.end; ++row)
        finishElements(*m_machine.simd, call.end, call.c, row * m_b.columns + extent.columns.begin, count);
}

// What lies above the diagonal is what lies below it: sixteen rows become columns at once, up to where the diagonal
// goes through them.
void Product::mirror(float* c) const {
    const std::size_t side = m_a.rows;
    inParallel(m_machine.threads, divideUp(side, 16), side * side, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin * 16; row < std::min(end * 16, side); row += 16) {
            const std::size_t rows = std::min<std::size_t>(16, side - row);
            const std::size_t turned = rows == 16 ? row : 0;
            if (turned > 0) m_machine.simd->rowsToLanes(c + row * side, side, rows, c + row, side, turned);
            for (std::size_t i = row; i < row + rows; ++i) {
                for (std::size_t j = turned; j < i; ++j) c[j * side + i] = c[i * side + j];
            }
        }
    });
}

}  // namespace lockstep::cpu
