#pragma once
#include <string>

#include "engine/backend/fusion/grad_mask.h"
#include "engine/graph/graph.h"
#include "engine/ops/batch_norm.h"

// What fuse() makes of neighbours, for backends that have kernels for it: definitions without shape or gradient rules.
namespace lockstep {

extern const OpDef kConv2dRelu;                 // as conv2d
extern const OpDef kConv2dBackwardWeightsBias;  // (x, dy) -> dw, dbias           Conv2dBackwardAttrs
extern const OpDef kDenseRelu;                  // as dense
extern const OpDef kDenseAdd;                   // (x, w [, bias], r) -> y + r
extern const OpDef kDenseGelu;                  // (x, w [, bias]) -> [gelu's slope at y,] gelu(y)
extern const OpDef kDenseBackwardDataGelu;      // (dy, w, slope) -> dx * slope
extern const OpDef kLayerNormBackwardAdd;       // (x, gamma, mean, invStd, dy, r) -> dx + r, dgamma, dbeta
extern const OpDef kDenseBackwardWeightsBias;   // (x, dy) -> dw, dbias
extern const OpDef kMaxPool2dBackwardRelu;      // (dy, argmax, y) -> dx          Pool2dBackwardAttrs
                                                //   where y, the pooled maximum of a ReLU's output, is positive

// Batch norm, then the other branch of a residual block, then ReLU:
//   Tensor: + r; Norm: + the batch norm of x2, a shortcut's.
enum class Residual { None, Tensor, Norm };
struct FusedNormAttrs {
    BatchNormAttrs norm, second;
    Residual residual = Residual::None;
    bool relu = false;
    bool operator==(const FusedNormAttrs&) const = default;
};
std::string describe(const FusedNormAttrs& attrs);
extern const OpDef kNormTrain;  // (x, gamma, beta, runningMean, runningVariance
                                //   [, r | x2, gamma2, beta2, runningMean2, runningVariance2])
                                //   -> y, mean, invStd, newMean, newVariance [, the same four of x2]
extern const OpDef kNormEval;   // the same inputs -> y

// Backward of the above: g = mask(g1 [+ g2]) with ReLU's mask from the forward output z or recomputed from x and beta.
// other Kept: g goes to the other branch; Norm: g goes through the shortcut's norm; Added: dx is summed with r, the
// gradient of a branch around the norm.
struct FusedNormBackwardAttrs {
    GradMask mask = GradMask::None;
    bool pair = false;
    GradOther other = GradOther::None;
    bool operator==(const FusedNormBackwardAttrs&) const = default;
};
std::string describe(const FusedNormBackwardAttrs& attrs);
extern const OpDef kNormBackward;  // (g1, x, gamma, mean, invStd [, g2][, beta | z][, x2, gamma2, mean2, invStd2 | r])
                                   //   -> [g | dx2,] dx, dgamma, dbeta [, dgamma2, dbeta2]

}  // namespace lockstep
