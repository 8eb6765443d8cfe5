#pragma once
#include <array>
#include <memory>

#include "engine/backend/cuda/libraries.h"
#include "engine/backend/kernel.h"
#include "engine/ops/update.h"

namespace lockstep::cuda {

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
    void orthogonalise(float* x, float* change, float* gram, float* square, double* norm, std::byte* library,
                       cudaStream_t stream);

    UpdateRule m_rule;
    std::int64_t m_offset, m_count, m_rows, m_columns;
    float m_decay;
    std::unique_ptr<Matmul> m_gram, m_square, m_change;
};

}  // namespace lockstep::cuda
