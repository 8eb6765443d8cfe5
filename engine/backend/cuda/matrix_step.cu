#include "engine/backend/cuda/matrix_step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/backend/cuda/map.h"
#include "engine/backend/cuda/square_sum.h"

namespace lockstep::cuda {

namespace {

template <class T>
struct AddMomentum {
    const T* gradient;
    const UpdateGate* gate;
    float *momentum, *direction, keeps;
    bool nesterov;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        if (gate->skip != 0) return;
        const float g = static_cast<float>(gradient[i]) * static_cast<float>(gate->scale);
        const float v = momentum[i] = keeps * momentum[i] + g;
        direction[i] = nesterov ? g + keeps * v : v;
    }
};

struct StoreNorm {
    double* norm;
    LOCKSTEP_CARD void operator()(std::int64_t, const Sums<1, double>& sum) const {
        *norm = sqrt(sum.at[0]) + NewtonSchulz::kEpsilon;
    }
};
struct Divide {
    float* x;
    const double* norm;
    LOCKSTEP_CARD void operator()(std::int64_t i) const { x[i] = static_cast<float>(x[i] / *norm); }
};
// b G + c G G where G G was, and a added to its diagonal.
struct Polynomial {
    const float* gram;
    float* squared;
    float a, b, c;
    std::int64_t side;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        squared[i] = b * gram[i] + c * squared[i] + (i % (side + 1) == 0 ? a : 0.0f);
    }
};
// a x + b y
struct Combine {
    float a, b;
    LOCKSTEP_CARD float operator()(float x, float y) const { return a * x + b * y; }
};

template <class T>
struct Step {
    const float* direction;
    const UpdateGate* gate;
    T* weight;
    float *master, decay, size;
    const StepScalars* step;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        if (gate->skip != 0) return;
        const float w = master[i], rate = static_cast<float>(step->learningRate);
        master[i] = w - rate * (decay * w + size * direction[i]);
        weight[i] = T(master[i]);
    }
};

constexpr auto kA = static_cast<float>(NewtonSchulz::kA), kB = static_cast<float>(NewtonSchulz::kB),
               kC = static_cast<float>(NewtonSchulz::kC);

std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
std::size_t floats(std::int64_t count) { return aligned(static_cast<std::size_t>(count) * sizeof(float)); }

}  // namespace

Orthogonaliser::Orthogonaliser(Libraries& libraries, std::int64_t rows, std::int64_t columns, const std::string& where)
    : m_rows(rows), m_columns(columns), m_side(std::min(rows, columns)) {
    const std::int64_t depth = std::max(rows, columns);
    m_gram = libraries.matmul({DType::F32, m_side, m_side, depth, isTall(), !isTall()}, where);
    m_ofSquares = libraries.matmul({DType::F32, m_side, m_side, m_side}, where);
    m_applied = libraries.matmul({DType::F32, m_rows, m_columns, m_side}, where);
}

// Of sides m < n, five steps are 20 m m n + 10 m m m multiplications and additions, among squares 4 m m n + 34 m m m.
bool Orthogonaliser::stepsAmongSquares() const { return 2 * std::max(m_rows, m_columns) > 3 * m_side; }

std::size_t Orthogonaliser::libraryBytes() const {
    return std::max({m_gram->workspaceBytes(), m_ofSquares->workspaceBytes(), m_applied->workspaceBytes(),
                     ColumnSums(count(), 1).workspaceBytes(1, sizeof(double))});
}

std::size_t Orthogonaliser::workspaceBytes() const {
    return aligned(sizeof(double)) + floats(count()) + (stepsAmongSquares() ? 4 : 2) * floats(squareCount()) +
           libraryBytes();
}

const float* Orthogonaliser::run(float* x, std::byte* workspace, cudaStream_t stream) {
    auto* const norm = reinterpret_cast<double*>(workspace);
    std::byte* const rest = workspace + aligned(sizeof(double));
    launchColumnSums<1, double>(stream, ColumnSums(count(), 1), rest, Square<float>{x}, StoreNorm{norm});
    launchElements(stream, count(), Divide{x, norm});
    return stepsAmongSquares() ? amongSquares(x, rest, stream) : stepByStep(x, rest, stream);
}

// y = square x, or x square of a tall matrix
void Orthogonaliser::apply(const float* square, const float* x, float* y, std::byte* library, cudaStream_t stream) {
    m_applied->run({isTall() ? x : square, isTall() ? square : x}, y, library, stream);
}

const float* Orthogonaliser::stepByStep(float* x, std::byte* workspace, cudaStream_t stream) {
    auto* const change = reinterpret_cast<float*>(workspace);
    auto* const gram = reinterpret_cast<float*>(workspace + floats(count()));
    auto* const squared = reinterpret_cast<float*>(workspace + floats(count()) + floats(squareCount()));
    std::byte* const library = workspace + floats(count()) + 2 * floats(squareCount());
    for (int i = 0; i < NewtonSchulz::kSteps; ++i) {
        m_gram->run({x, x}, gram, library, stream);
        m_ofSquares->run({gram, gram}, squared, library, stream);
        launchElements(stream, squareCount(), Polynomial{gram, squared, 0, kB, kC, m_side});
        apply(squared, x, change, library, stream);
        launchMap(stream, count(), Combine{kA, 1}, x, const_cast<const float*>(x), const_cast<const float*>(change));
    }
    return x;
}

const float* Orthogonaliser::amongSquares(const float* x, std::byte* workspace, cudaStream_t stream) {
    auto* const product = reinterpret_cast<float*>(workspace);
    std::array<float*, 4> squares;
    for (std::size_t i = 0; i < squares.size(); ++i)
        squares[i] = reinterpret_cast<float*>(workspace + floats(count()) + i * floats(squareCount()));
    auto& [gram, polynomial, all, other] = squares;  // all: the product of the polynomials so far
    std::byte* const library = workspace + floats(count()) + 4 * floats(squareCount());
    m_gram->run({x, x}, gram, library, stream);
    for (int i = 0; i < NewtonSchulz::kSteps; ++i) {
        m_ofSquares->run({gram, gram}, polynomial, library, stream);
        launchElements(stream, squareCount(), Polynomial{gram, polynomial, kA, kB, kC, m_side});
        if (i + 1 < NewtonSchulz::kSteps) {
            m_ofSquares->run({polynomial, gram}, other, library, stream);
            m_ofSquares->run({polynomial, other}, gram, library, stream);
        }
        if (i == 0) {
            std::swap(all, polynomial);
        } else {
            m_ofSquares->run({polynomial, all}, other, library, stream);
            std::swap(all, other);
        }
    }
    apply(all, x, product, library, stream);
    return product;
}

template <class T>
MatrixStep<T>::MatrixStep(Libraries& libraries, const UpdateRule& rule, const UpdateSegment& segment)
    : m_rule(rule),
      m_offset(static_cast<std::int64_t>(segment.offset)),
      m_count(static_cast<std::int64_t>(segment.count)),
      m_rows(segment.parameter->type.shape[0]),
      m_columns(m_count / m_rows),
      m_decay(static_cast<float>(segment.decays ? rule.weightDecay : 0)),
      m_orthogonaliser(libraries, m_rows, m_columns, segment.parameter->name) {}

template <class T>
std::size_t MatrixStep<T>::workspaceBytes() const {
    return floats(m_count) + m_orthogonaliser.workspaceBytes();
}

template <class T>
void MatrixStep<T>::run(const T* gradient, const UpdateGate* gate, T* weight, float* master, float* momentum,
                        const StepScalars* step, std::byte* workspace, cudaStream_t stream) {
    auto* const direction = reinterpret_cast<float*>(workspace);
    launchElements(stream, m_count,
                   AddMomentum<T>{gradient + m_offset, gate, momentum + m_offset, direction,
                                  static_cast<float>(m_rule.momentum), m_rule.nesterov});
    const float* const orthogonal = m_orthogonaliser.run(direction, workspace + floats(m_count), stream);
    const auto size =
        static_cast<float>(std::sqrt(std::max(1.0, static_cast<double>(m_rows) / static_cast<double>(m_columns))));
    launchElements(stream, m_count,
                   Step<T>{orthogonal, gate, weight + m_offset, master + m_offset, m_decay, size, step});
}

template class MatrixStep<float>;
template class MatrixStep<Half>;
template class MatrixStep<BFloat16>;

}  // namespace lockstep::cuda
