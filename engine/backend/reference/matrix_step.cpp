#include "engine/backend/reference/matrix_step.h"

#include <algorithm>
#include <cmath>

namespace lockstep::reference {

namespace {

// c = a b, row-major; a is rows x depth, b's elements are given by its function of (row, column).
template <class B>
void multiply(std::size_t rows, std::size_t depth, std::size_t columns, const double* a, B b, double* c) {
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
            double sum = 0;
            for (std::size_t k = 0; k < depth; ++k) sum += a[i * depth + k] * b(k, j);
            c[i * columns + j] = sum;
        }
    }
}

}  // namespace

MatrixStep::MatrixStep(const UpdateRule& rule, const UpdateSegment& segment)
    : m_rule(rule),
      m_decay(segment.decays ? rule.weightDecay : 0),
      m_rows(static_cast<std::size_t>(segment.parameter->type.shape[0])),
      m_columns(segment.count / m_rows) {}

void MatrixStep::run(double scale, double learningRate, const double* gradient, double* w, double* momentum,
                     double* workspace) const {
    const std::size_t count = m_rows * m_columns;
    double* const direction = workspace;
    double* const gram = workspace + 2 * count;
    for (std::size_t i = 0; i < count; ++i) {
        const double g = gradient[i] * scale;
        momentum[i] = m_rule.momentum * momentum[i] + g;
        direction[i] = m_rule.nesterov ? g + m_rule.momentum * momentum[i] : momentum[i];
    }
    orthogonalise(direction, direction + count, gram, gram + m_rows * m_rows);
    const double size = std::sqrt(std::max(1.0, static_cast<double>(m_rows) / static_cast<double>(m_columns)));
    for (std::size_t i = 0; i < count; ++i) w[i] -= learningRate * (m_decay * w[i] + size * direction[i]);
}

void MatrixStep::orthogonalise(double* x, double* change, double* gram, double* square) const {
    const std::size_t count = m_rows * m_columns, squareCount = m_rows * m_rows;
    double squares = 0;
    for (std::size_t i = 0; i < count; ++i) squares += x[i] * x[i];
    const double norm = std::sqrt(squares) + NewtonSchulz::kEpsilon;
    for (std::size_t i = 0; i < count; ++i) x[i] /= norm;
    const auto transposed = [&](std::size_t k, std::size_t j) { return x[j * m_columns + k]; };
    const auto gramAt = [&](std::size_t k, std::size_t j) { return gram[k * m_rows + j]; };
    const auto at = [&](std::size_t k, std::size_t j) { return x[k * m_columns + j]; };
    for (int step = 0; step < NewtonSchulz::kSteps; ++step) {
        multiply(m_rows, m_columns, m_rows, x, transposed, gram);
        multiply(m_rows, m_rows, m_rows, gram, gramAt, square);
        for (std::size_t i = 0; i < squareCount; ++i)
            gram[i] = NewtonSchulz::kB * gram[i] + NewtonSchulz::kC * square[i];
        multiply(m_rows, m_rows, m_columns, gram, at, change);
        for (std::size_t i = 0; i < count; ++i) x[i] = NewtonSchulz::kA * x[i] + change[i];
    }
}

}  // namespace lockstep::reference
