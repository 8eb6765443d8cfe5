#include "engine/backend/cpu/library_product.h"

#include <algorithm>
#include <array>

namespace lockstep::cpu {

namespace {

std::int64_t signedOf(std::size_t count) { return static_cast<std::int64_t>(count); }

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

onednn::Primitive packing(const Machine& machine, const Matrix& from, const onednn::Desc& to) {
    const auto desc = onednn::Desc::matrix(signedOf(from.rows), signedOf(from.columns), signedOf(from.rowStride),
                                           signedOf(from.columnStride));
    return {machine.engine, onednn::planReorder(machine.engine, desc, to)};
}

std::byte* bytesOf(const float* floats) { return reinterpret_cast<std::byte*>(const_cast<float*>(floats)); }

}  // namespace

LibraryProduct::LibraryProduct(const Machine& machine, const Matrix& a, const Matrix& b, bool bias, bool relu)
    : m_machine(machine),
      m_elements(a.rows * b.columns),
      m_plan(onednn::planProduct(machine.engine, {.rows = signedOf(a.rows),
                                                  .columns = signedOf(b.columns),
                                                  .depth = signedOf(a.columns),
                                                  .relu = relu,
                                                  .bias = bias})),
      m_packA(packing(machine, a, m_plan.arguments[0])),
      m_packB(packing(machine, b, m_plan.arguments[1])),
      m_product(machine.engine, m_plan),
      m_bytesOfA(aligned(m_plan.arguments[0].bytes())),
      m_bytesOfB(aligned(m_plan.arguments[1].bytes())) {}

std::size_t LibraryProduct::workspaceBytes() const {
    return m_bytesOfA + m_bytesOfB +
           std::max({m_packA.scratchBytes(), m_packB.scratchBytes(), m_product.scratchBytes()});
}

void LibraryProduct::run(const float* a, const float* b, const ProductEnd& end, float* c, std::byte* workspace) {
    std::byte *const packedA = workspace, *const packedB = packedA + m_bytesOfA, *const scratch = packedB + m_bytesOfB;
    m_packA.run(std::array{bytesOf(a), packedA}, scratch);
    m_packB.run(std::array{bytesOf(b), packedB}, scratch);
    if (end.bias) m_product.run(std::array{packedA, packedB, bytesOf(end.bias), bytesOf(c)}, scratch);
    else m_product.run(std::array{packedA, packedB, bytesOf(c)}, scratch);
    if (!end.addends && !end.slopes && !end.gelu) return;
    overFloats(m_machine.threads, m_elements, [&](std::size_t begin, std::size_t finish) {
        finishProduct(*m_machine.simd, end, c, begin, finish - begin);
    });
}

}  // namespace lockstep::cpu
