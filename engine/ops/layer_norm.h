#pragma once
#include <string>

#include "engine/graph/graph_builder.h"

namespace lockstep {

// Layer norm over the last extent, that of gamma and beta (Ba, Kiros & Hinton, arXiv 1607.06450), with the biased
// variance. mean and invStd have x's shape without the last extent, and at least f32.
extern const OpDef kLayerNorm;          // (x, gamma, beta) -> y, mean, invStd                      LayerNormAttrs
extern const OpDef kLayerNormBackward;  // (x, gamma, mean, invStd, dy) -> dx, dgamma, dbeta

struct LayerNormAttrs {
    double epsilon = 1e-5;
    bool operator==(const LayerNormAttrs&) const = default;
};
std::string describe(const LayerNormAttrs& attrs);

ValueId layerNorm(GraphBuilder& b, ValueId x, ValueId gamma, ValueId beta, const LayerNormAttrs& attrs,
                  const std::string& name);

}  // namespace lockstep
