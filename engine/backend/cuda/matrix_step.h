#pragma once
#include <array>
#include <memory>
#include <string>

#include "engine/backend/cuda/libraries.h"
#include "engine/backend/kernel.h"
#include "engine/ops/update.h"

namespace lockstep::cuda {

// x, row-major, becomes next to orthogonal: see NewtonSchulz, and the CPU's Orthogonaliser for why steps can be taken
// among squares of the shorter side.
class Orthogonaliser {
public:
    Orthogonaliser(Libraries& libraries, std::int64_t rows, std::int64_t columns, const std::string& where);
    std::size_t workspaceBytes() const;
    // Where the result is: x, or in the workspace.
    const float* run(float* x, std::byte* workspace, cudaStream_t stream);

private:
    std::int64_t count() const { return m_rows * m_columns; }
    std::int64_t squareCount() const { return m_side * m_side; }
    bool isTall() const { return m_rows > m_columns; }
    bool stepsAmongSquares() const;
    std::size_t libraryBytes() const;
    void apply(const float* square, const float* x, float* y, std::byte* library, cudaStream_t stream);
    const float* stepByStep(float* x, std::byte* workspace, cudaStream_t stream);
    const float* amongSquares(const float* x, std::byte* workspace, cudaStream_t stream);

    std::int64_t m_rows, m_columns, m_side;  // the last: the shorter
    std::unique_ptr<Matmul> m_gram, m_ofSquares, m_applied;
};

// Muon's step of one matrix, a parameter seen as its output channels by all else: in whatever order the columns lie,
// the step is the same, so the parameter's layout does not matter.
template <class T>
class MatrixStep {
public:
    MatrixStep(Libraries& libraries, const UpdateRule& rule, const UpdateSegment& segment);
    std::size_t workspaceBytes() const;
    // Pointers to the slices that the segment is of; master is weight itself where that is f32.
    void run(const T* gradient, const UpdateGate* gate, T* weight, float* master, float* momentum,
             const StepScalars* step, std::byte* workspace, cudaStream_t stream);

private:
    UpdateRule m_rule;
    std::int64_t m_offset, m_count, m_rows, m_columns;
    float m_decay;
    Orthogonaliser m_orthogonaliser;
};

}  // namespace lockstep::cuda
