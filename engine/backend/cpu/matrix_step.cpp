#include "engine/backend/cpu/matrix_step.h"

#include <cmath>

namespace lockstep::cpu {

namespace {

std::size_t aligned(std::size_t floats) { return (floats + 15) / 16 * 16; }

// y = a x + b y
void combine(const Machine& machine, std::size_t count, double a, const float* x, double b, float* y) {
    const auto factor = static_cast<float>(a), keep = static_cast<float>(b);
    overFloats(machine.threads, count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) y[i] = factor * x[i] + keep * y[i];
    });
}

Matrix matrixOf(const Value& parameter) {
    const Shape& shape = parameter.type.shape;
    return Matrix::rowMajor(static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape.count() / shape[0]));
}

Matrix shorterSide(const Matrix& matrix) {
    const std::size_t side = std::min(matrix.rows, matrix.columns);
    return Matrix::rowMajor(side, side);
}

}  // namespace

Orthogonaliser::Orthogonaliser(const Machine& machine, const Matrix& matrix)
    : m_machine(machine),
      m_matrix(matrix),
      m_square(shorterSide(matrix)),
      m_gram(isTall() ? Product::symmetric(machine, matrix.transposed(), matrix)
                      : Product::symmetric(machine, matrix, matrix.transposed())),
      m_ofSquares(Product::symmetric(machine, m_square, m_square)),
      m_applied(isTall() ? Product(machine, matrix, m_square) : Product(machine, m_square, matrix)),
      m_norm(machine, floats()) {}

std::size_t Orthogonaliser::workspaceBytes() const {
    const std::size_t matrices = aligned(floats()) + 4 * aligned(squareFloats());
    return matrices * sizeof(float) + std::max({m_gram.workspaceBytes(), m_ofSquares.workspaceBytes(),
                                                m_applied.workspaceBytes(), m_norm.workspaceBytes()});
}

void Orthogonaliser::run(float* x, std::byte* workspace) const {
    const double norm = std::sqrt(m_norm.of(x, workspace));
    combine(m_machine, floats(), 0, x, 1 / (norm + NewtonSchulz::kEpsilon), x);
    float* const product = reinterpret_cast<float*>(workspace);
    float* gram = product + aligned(floats());
    float* const polynomial = gram + aligned(squareFloats());
    float* all = polynomial + aligned(squareFloats());  // the product of the polynomials so far
    float* other = all + aligned(squareFloats());
    auto* const scratch = reinterpret_cast<std::byte*>(other + aligned(squareFloats()));
    m_gram.run(x, x, {}, gram, scratch);
    for (int step = 0; step < NewtonSchulz::kSteps; ++step) {
        m_ofSquares.run(gram, gram, {}, polynomial, scratch);
        combine(m_machine, squareFloats(), NewtonSchulz::kB, gram, NewtonSchulz::kC, polynomial);
        for (std::size_t i = 0; i < m_square.rows; ++i)
            polynomial[i * (m_square.rows + 1)] += static_cast<float>(NewtonSchulz::kA);
        if (step == 0) {
            std::copy_n(polynomial, squareFloats(), all);
        } else {
            m_ofSquares.run(polynomial, all, {}, other, scratch);
            std::swap(all, other);
        }
        if (step + 1 == NewtonSchulz::kSteps) break;
        m_ofSquares.run(polynomial, gram, {}, other, scratch);
        m_ofSquares.run(polynomial, other, {}, gram, scratch);
    }
    if (isTall()) m_applied.run(x, all, {}, product, scratch);
    else m_applied.run(all, x, {}, product, scratch);
    std::copy_n(product, floats(), x);
}

MatrixStep::MatrixStep(const Machine& machine, const UpdateRule& rule, const UpdateSegment& segment)
    : m_machine(machine),
      m_rule(rule),
      m_decay(static_cast<float>(segment.decays ? rule.weightDecay : 0)),
      m_count(segment.count),
      m_orthogonaliser(machine, matrixOf(*segment.parameter)) {
    const Matrix matrix = matrixOf(*segment.parameter);
    m_size = std::sqrt(std::max(1.0f, static_cast<float>(matrix.rows) / static_cast<float>(matrix.columns)));
    if (!segment.parameter->layout) return;
    const onednn::Desc stored = descOf(*segment.parameter);
    const onednn::Desc rowMajor = onednn::Desc::rowMajor(stored.dims(), stored.dtype());
    m_repacking.emplace(Repacking{{machine.engine, planReorder(machine.engine, stored, rowMajor)},
                                  {machine.engine, planReorder(machine.engine, rowMajor, stored)},
                                  matrix.rows * matrix.columns});
}

std::size_t MatrixStep::workspaceBytes() const {
    std::size_t scratch = m_orthogonaliser.workspaceBytes(), floats = aligned(m_count);
    if (m_repacking) {
        scratch = std::max({scratch, m_repacking->unpack.scratchBytes(), m_repacking->pack.scratchBytes()});
        floats += aligned(m_repacking->floats);
    }
    return floats * sizeof(float) + scratch;
}

void MatrixStep::run(float scale, float learningRate, const float* gradient, float* w, float* momentum,
                     std::byte* workspace) {
    auto* const stored = reinterpret_cast<float*>(workspace);
    float* const matrix = m_repacking ? stored + aligned(m_count) : stored;
    auto* const scratch =
        reinterpret_cast<std::byte*>(m_repacking ? matrix + aligned(m_repacking->floats) : matrix + aligned(m_count));
    const auto repack = [&](onednn::Primitive& primitive, float* from, float* to) {
        const std::array pointers{reinterpret_cast<std::byte*>(from), reinterpret_cast<std::byte*>(to)};
        primitive.run(pointers, scratch);
    };
    addMomentum(scale, gradient, momentum, stored);
    if (m_repacking) repack(m_repacking->unpack, stored, matrix);
    m_orthogonaliser.run(matrix, scratch);
    if (m_repacking) repack(m_repacking->pack, matrix, stored);
    const UpdateRule plain{.kind = UpdateRule::Kind::Sgd, .momentum = 0};
    overFloats(m_machine.threads, m_count, [&](std::size_t begin, std::size_t end) {
        m_machine.simd->update({.rule = &plain,
                                .scale = m_size,
                                .decay = m_decay,
                                .learningRate = learningRate,
                                .gradient = stored + begin,
                                .w = w + begin,
                                .count = end - begin});
    });
}

// Where SGD would go from zero with a learning rate of -1.
void MatrixStep::addMomentum(float scale, const float* gradient, float* momentum, float* direction) const {
    UpdateRule sgd = m_rule;
    sgd.kind = UpdateRule::Kind::Sgd;
    overFloats(m_machine.threads, m_count, [&](std::size_t begin, std::size_t end) {
        std::fill(direction + begin, direction + end, 0.0f);
        m_machine.simd->update({.rule = &sgd,
                                .scale = scale,
                                .learningRate = -1,
                                .gradient = gradient + begin,
                                .w = direction + begin,
                                .states = {momentum + begin},
                                .count = end - begin});
    });
}

}  // namespace lockstep::cpu
