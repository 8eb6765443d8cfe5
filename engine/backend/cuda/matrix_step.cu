#include "engine/backend/cuda/matrix_step.h"

#include <algorithm>
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
// a x + y
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

std::size_t aligned(std::size_t bytes) {
    return (bytes + 255) / 256 * 256;
}
std::size_t floats(std::int64_t count) {
    return aligned(static_cast<std::size_t>(count) * sizeof(float));
}

}  // namespace

template <class T>
MatrixStep<T>::MatrixStep(Libraries& libraries, const UpdateRule& rule, const UpdateSegment& segment)
    : m_rule(rule),
      m_offset(static_cast<std::int64_t>(segment.offset)),
      m_count(static_cast<std::int64_t>(segment.count)),
      m_rows(segment.parameter->type.shape[0]),
      m_columns(m_count / m_rows),
      m_decay(static_cast<float>(segment.decays ? rule.weightDecay : 0)),
      m_gram(libraries.matmul({DType::F32, m_rows, m_rows, m_columns, false, true}, segment.parameter->name)),
      m_square(libraries.matmul({DType::F32, m_rows, m_rows, m_rows, false, false}, segment.parameter->name)),
      m_change(libraries.matmul({DType::F32, m_rows, m_columns, m_rows, false, false}, segment.parameter->name)) {}

template <class T>
std::size_t MatrixStep<T>::workspaceBytes() const {
    const std::size_t library =
        std::max({m_gram->workspaceBytes(), m_square->workspaceBytes(), m_change->workspaceBytes(),
                  ColumnSums(m_count, 1).workspaceBytes(1, sizeof(double))});
    return 2 * floats(m_count) + 2 * floats(m_rows * m_rows) + aligned(sizeof(double)) + library;
}

template <class T>
void MatrixStep<T>::run(const T* gradient, const UpdateGate* gate, T* weight, float* master, float* momentum,
                        const StepScalars* step, std::byte* workspace, cudaStream_t stream) {
    std::byte* at = workspace;
    const auto take = [&](std::size_t bytes) { return std::exchange(at, at + bytes); };
    auto* const direction = reinterpret_cast<float*>(take(floats(m_count)));
    auto* const change = reinterpret_cast<float*>(take(floats(m_count)));
    auto* const gram = reinterpret_cast<float*>(take(floats(m_rows * m_rows)));
    auto* const square = reinterpret_cast<float*>(take(floats(m_rows * m_rows)));
    auto* const norm = reinterpret_cast<double*>(take(aligned(sizeof(double))));
    launchElements(stream, m_count,
                   AddMomentum<T>{gradient + m_offset, gate, momentum + m_offset, direction,
                                  static_cast<float>(m_rule.momentum), m_rule.nesterov});
    orthogonalise(direction, change, gram, square, norm, at, stream);
    const auto size =
        static_cast<float>(std::sqrt(std::max(1.0, static_cast<double>(m_rows) / static_cast<double>(m_columns))));
    launchElements(stream, m_count,
                   Step<T>{direction, gate, weight + m_offset, master + m_offset, m_decay, size, step});
}

template <class T>
void MatrixStep<T>::orthogonalise(float* x, float* change, float* gram, float* square, double* norm, std::byte* library,
                                  cudaStream_t stream) {
    const std::int64_t squares = m_rows * m_rows;
    launchColumnSums<1, double>(stream, ColumnSums(m_count, 1), library, Square<float>{x}, StoreNorm{norm});
    launchElements(stream, m_count, Divide{x, norm});
    for (int i = 0; i < NewtonSchulz::kSteps; ++i) {
        m_gram->run({x, x}, gram, library, stream);
        m_square->run({gram, gram}, square, library, stream);
        const float* const before = gram;
        launchMap(stream, squares, Combine{static_cast<float>(NewtonSchulz::kB), static_cast<float>(NewtonSchulz::kC)},
                  gram, before, static_cast<const float*>(square));
        m_change->run({gram, x}, change, library, stream);
        const float* const own = x;
        launchMap(stream, m_count, Combine{static_cast<float>(NewtonSchulz::kA), 1}, x, own,
                  static_cast<const float*>(change));
    }
}

template class MatrixStep<float>;
template class MatrixStep<Half>;
template class MatrixStep<BFloat16>;

}  // namespace lockstep::cuda
