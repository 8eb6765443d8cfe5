#pragma once
#include "engine/ops/update.h"

namespace lockstep::reference {

// Muon's step of one matrix: see UpdateRule and NewtonSchulz.
class MatrixStep {
public:
    MatrixStep(const UpdateRule& rule, const UpdateSegment& segment);
    std::size_t workspaceBytes() const { return 2 * (m_rows * m_columns + m_rows * m_rows) * sizeof(double); }
    // Pointers to the segment's own gradient, weights and momentum.
    void run(double scale, double learningRate, const double* gradient, double* w, double* momentum,
             double* workspace) const;

private:
    void orthogonalise(double* x, double* change, double* gram, double* square) const;

    UpdateRule m_rule;
    double m_decay;
    std::size_t m_rows, m_columns;
};

}  // namespace lockstep::reference
