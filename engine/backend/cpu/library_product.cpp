#include "engine/backend/cpu/library_product.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace lockstep::cpu {

namespace {

constexpr std::size_t kPackedAtOnce = std::size_t{4} << 20;  // bytes of b, for each thread
constexpr std::size_t kColumns = 64;                         // that the library multiplies at once

std::int64_t signedOf(std::size_t count) { return static_cast<std::int64_t>(count); }

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

onednn::Desc descOf(const LibraryProduct::Operand& operand) {
    const Matrix& matrix = operand.matrix;
    return onednn::Desc::matrix(signedOf(matrix.rows), signedOf(matrix.columns), signedOf(matrix.rowStride),
                                signedOf(matrix.columnStride), operand.dtype);
}

onednn::Desc anyOf(const Matrix& matrix) {
    return onednn::Desc::any(std::vector<std::int64_t>{signedOf(matrix.rows), signedOf(matrix.columns)}, DType::BF16);
}

onednn::Desc wanted(const LibraryProduct::Operand& operand) {
    if (operand.desc) return operand.desc;
    return operand.dtype == DType::BF16 ? descOf(operand) : anyOf(operand.matrix);
}

onednn::Plan planOf(const onednn::Engine& engine, const onednn::Desc& a, const onednn::Desc& b,
                    const LibraryProduct::End& end) {
    return onednn::planProduct(engine,
                               {.a = a, .b = b, .c = end.dtype, .bias = end.bias, .with = end.with, .relu = end.relu});
}

}  // namespace

onednn::Desc LibraryProduct::wantedOf(const onednn::Engine& engine, const Operand& a, const Matrix& b, const End& end) {
    return planOf(engine, wanted(a), anyOf(b), end).arguments[1];
}

LibraryProduct::LibraryProduct(const Machine& machine, const Operand& a, const Operand& b, const End& end)
    : m_b(b),
      m_slice(sliceOf(machine, b, end)),
      m_rows(a.matrix.rows),
      m_made(end.dtype),
      m_plan(planOf(machine.engine, wanted(a), wanted(m_slice), end)),
      m_product(machine.engine, m_plan),
      m_packA(packingOf(machine, a, m_plan.arguments[0])),
      m_packB(packingOf(machine, m_slice, m_plan.arguments[1])) {}

// All of b, unless it is packed and large. The slices are alike.
LibraryProduct::Operand LibraryProduct::sliceOf(const Machine& machine, const Operand& b, const End& end) {
    const std::size_t columns = b.matrix.columns, bytes = b.matrix.rows * columns * sizeOf(DType::BF16);
    const std::size_t wanted = divideUp(bytes, kPackedAtOnce * static_cast<std::size_t>(machine.threads));
    Operand slice = b;
    if (b.dtype == DType::BF16 || end.with != onednn::WithOther::Nothing) return slice;
    for (std::size_t count = wanted; count < 2 * wanted; ++count) {
        if (columns % (count * kColumns) != 0) continue;
        slice.matrix.columns = columns / count;
        break;
    }
    return slice;
}

LibraryProduct::Packing LibraryProduct::packingOf(const Machine& machine, const Operand& operand,
                                                  const onednn::Desc& to) {
    if (operand.dtype == DType::BF16) return {};
    const onednn::Plan plan = onednn::planReorder(machine.engine, descOf(operand), to);
    return {std::make_unique<onednn::Primitive>(machine.engine, plan), aligned(to.bytes())};
}

std::byte* LibraryProduct::Packing::run(const std::byte* from, std::byte* to, std::byte* scratch) const {
    auto* const source = const_cast<std::byte*>(from);
    if (!reorder) return source;
    reorder->run(std::array{source, to}, scratch);
    return to;
}

std::size_t LibraryProduct::workspaceBytes() const {
    std::size_t scratch = m_product.scratchBytes();
    for (const Packing* packing : {&m_packA, &m_packB}) {
        if (packing->reorder) scratch = std::max(scratch, packing->reorder->scratchBytes());
    }
    return m_packA.bytes + m_packB.bytes + (slices() > 1 ? aligned(m_rows * madeRowBytes()) : 0) + scratch;
}

// Of what a slice makes.
std::size_t LibraryProduct::madeRowBytes() const { return m_slice.matrix.columns * sizeOf(m_made); }

void LibraryProduct::run(const Call& call, std::byte* workspace) {
    const std::size_t columns = m_slice.matrix.columns, rowBytes = madeRowBytes();
    std::byte *const packedB = workspace + m_packA.bytes, *const made = packedB + m_packB.bytes;
    std::byte* const scratch = slices() > 1 ? made + aligned(m_rows * rowBytes) : made;
    std::byte* const a = m_packA.run(call.a, workspace, scratch);
    for (std::size_t slice = 0; slice < slices(); ++slice) {
        const std::byte* b = call.b + slice * columns * m_b.matrix.columnStride * sizeOf(m_b.dtype);
        const std::byte* bias = call.bias ? call.bias + slice * columns * sizeof(float) : nullptr;
        std::array<std::byte*, 5> pointers{a, m_packB.run(b, packedB, scratch)};
        std::size_t count = 2;
        for (const std::byte* read : {bias, call.other}) {
            if (read) pointers[count++] = const_cast<std::byte*>(read);
        }
        pointers[count++] = slices() > 1 ? made : call.c;
        m_product.run(std::span(pointers).first(count), scratch);
        for (std::size_t row = 0; slices() > 1 && row < m_rows; ++row)
            std::memcpy(call.c + (row * slices() + slice) * rowBytes, made + row * rowBytes, rowBytes);
    }
}

}  // namespace lockstep::cpu
