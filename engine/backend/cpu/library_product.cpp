#include "engine/backend/cpu/library_product.h"

#include <algorithm>
#include <vector>

namespace lockstep::cpu {

namespace {

std::int64_t signedOf(std::size_t count) { return static_cast<std::int64_t>(count); }

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

onednn::Desc descOf(const LibraryProduct::Operand& operand) {
    const Matrix& matrix = operand.matrix;
    return onednn::Desc::matrix(signedOf(matrix.rows), signedOf(matrix.columns), signedOf(matrix.rowStride),
                                signedOf(matrix.columnStride), operand.dtype);
}

onednn::Desc wanted(const LibraryProduct::Operand& operand) {
    if (operand.dtype == DType::BF16) return descOf(operand);
    return onednn::Desc::any(std::vector<std::int64_t>{signedOf(operand.matrix.rows), signedOf(operand.matrix.columns)},
                             DType::BF16);
}

}  // namespace

LibraryProduct::LibraryProduct(const Machine& machine, const Operand& a, const Operand& b, const End& end)
    : m_plan(onednn::planProduct(
          machine.engine,
          {.a = wanted(a), .b = wanted(b), .c = end.dtype, .bias = end.bias, .with = end.with, .relu = end.relu})),
      m_product(machine.engine, m_plan),
      m_packA(packingOf(machine, a, m_plan.arguments[0])),
      m_packB(packingOf(machine, b, m_plan.arguments[1])) {}

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
    return m_packA.bytes + m_packB.bytes + scratch;
}

void LibraryProduct::run(const Call& call, std::byte* workspace) {
    std::byte* const scratch = workspace + m_packA.bytes + m_packB.bytes;
    std::array<std::byte*, 5> pointers{m_packA.run(call.a, workspace, scratch),
                                       m_packB.run(call.b, workspace + m_packA.bytes, scratch)};
    std::size_t count = 2;
    for (const std::byte* read : {call.bias, call.other}) {
        if (read) pointers[count++] = const_cast<std::byte*>(read);
    }
    pointers[count++] = call.c;
    m_product.run(std::span(pointers).first(count), scratch);
}

}  // namespace lockstep::cpu
