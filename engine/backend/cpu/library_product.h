#pragma once
#include "engine/backend/cpu/product.h"

namespace lockstep::cpu {

// c = a b by the library, with operands rounded to bf16 (to nearest, ties to even), sums and c in f32: where a
// processor multiplies tiles (AMX), several times as fast as pairs in vectors are. Both operands are rounded and laid
// out as the library likes before each product.
class LibraryProduct {
public:
    // Whether a bias and ReLU belong to the end of every run.
    LibraryProduct(const Machine& machine, const Matrix& a, const Matrix& b, bool bias, bool relu);

    std::size_t workspaceBytes() const;
    void run(const float* a, const float* b, const ProductEnd& end, float* c, std::byte* workspace);

private:
    const Machine& m_machine;
    std::size_t m_elements;  // of c
    onednn::Plan m_plan;
    onednn::Primitive m_packA, m_packB, m_product;
    std::size_t m_bytesOfA, m_bytesOfB;
};

}  // namespace lockstep::cpu
