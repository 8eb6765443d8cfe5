#pragma once
#include <array>
#include <optional>

#include "engine/backend/cpu/product.h"
#include "engine/backend/cpu/square_sum.h"
#include "engine/ops/update.h"

namespace lockstep::cpu {

// x, row-major, becomes next to orthogonal: see NewtonSchulz. With G = X Xt (the product over the longer side) a step
// is X <- P X with P = a + b G + c G G, so the next G is P G P. All of these are polynomials of the first G: they
// commute and are symmetric, so the steps are taken among squares of the shorter side alone, each product half made,
// and X is multiplied once, by the product of their P. Of sides m <= n that is 3 m m n + 17 m m m multiplications and
// additions; step by step it would be 15 m m n + 5 m m m.
class Orthogonaliser {
public:
    Orthogonaliser(const Machine& machine, const Matrix& matrix);
    std::size_t workspaceBytes() const;
    void run(float* x, std::byte* workspace) const;  // in place

private:
    std::size_t floats() const { return m_matrix.rows * m_matrix.columns; }
    std::size_t squareFloats() const { return m_square.rows * m_square.rows; }
    bool isTall() const { return m_matrix.rows > m_matrix.columns; }

    const Machine& m_machine;
    Matrix m_matrix, m_square;  // the second: of the shorter side
    Product m_gram, m_ofSquares, m_applied;
    SquareSum m_norm;
};

// Muon's step of one matrix. Momentum and weights are changed where the parameter lies; the direction between them is
// taken out of the parameter's layout to be orthogonalised, and put back. What fills up blocks stays zero.
class MatrixStep {
public:
    MatrixStep(const Machine& machine, const UpdateRule& rule, const UpdateSegment& segment);
    std::size_t workspaceBytes() const;
    // Pointers to the segment's own gradient, weights and momentum.
    void run(float scale, float learningRate, const float* gradient, float* w, float* momentum, std::byte* workspace);

private:
    struct Repacking {
        onednn::Primitive unpack, pack;
        std::size_t floats;  // of the row-major matrix
    };

    void addMomentum(float scale, const float* gradient, float* momentum, float* direction) const;

    const Machine& m_machine;
    UpdateRule m_rule;
    float m_decay, m_size;
    std::size_t m_count;
    Orthogonaliser m_orthogonaliser;
    std::optional<Repacking> m_repacking;  // null: the parameter is row-major
};

}  // namespace lockstep::cpu
