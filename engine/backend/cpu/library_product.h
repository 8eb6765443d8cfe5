#pragma once
#include <memory>

#include "engine/backend/cpu/product.h"

namespace lockstep::cpu {

// c = a b by the library, with operands in bf16 and sums in f32: where a processor multiplies tiles (AMX), several
// times as fast as pairs in vectors are. Operands of bf16 are read where they lie, next to each other in rows or in
// columns, or as the library likes, if it says so; those of floats are rounded (to nearest, ties to even) and laid out
// as it likes before each product: of many columns of b so many at a time as stay in the cache, so that a large b takes
// no memory again.
class LibraryProduct {
public:
    struct Operand {
        Matrix matrix;
        DType dtype = DType::F32;
        onednn::Desc desc{};  // of bf16 that lie in neither rows nor columns
    };
    // What becomes of the sums, in this order.
    struct End {
        bool bias = false;  // of floats, one per column
        onednn::WithOther with = onednn::WithOther::Nothing;
        bool relu = false;
        DType dtype = DType::F32;  // of c, and of the other, which lies as c does
    };
    LibraryProduct(const Machine& machine, const Operand& a, const Operand& b, const End& end);

    // How a b of bf16 lies best.
    static onednn::Desc wantedOf(const onednn::Engine& engine, const Operand& a, const Matrix& b, const End& end);

    struct Call {
        const std::byte *a, *b, *bias = nullptr, *other = nullptr;
        std::byte* c;
    };
    std::size_t workspaceBytes() const;
    void run(const Call& call, std::byte* workspace);

private:
    // Empty where the operand is read as it lies.
    struct Packing {
        std::unique_ptr<onednn::Primitive> reorder;
        std::size_t bytes = 0;

        std::byte* run(const std::byte* from, std::byte* to, std::byte* scratch) const;
    };
    static Packing packingOf(const Machine& machine, const Operand& operand, const onednn::Desc& to);
    static Operand sliceOf(const Machine& machine, const Operand& b, const End& end);
    std::size_t madeRowBytes() const;
    std::size_t slices() const { return m_b.matrix.columns / m_slice.matrix.columns; }

    Operand m_b, m_slice;  // of b: columns that are multiplied at once
    std::size_t m_rows;
    DType m_made;
    onednn::Plan m_plan;
    onednn::Primitive m_product;
    Packing m_packA, m_packB;
};

}  // namespace lockstep::cpu
