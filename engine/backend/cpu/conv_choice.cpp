#include "engine/backend/cpu/conv_choice.h"

namespace lockstep::cpu {

std::string text(ConvAlgorithm algorithm) {
    if (algorithm == ConvAlgorithm::Winograd) return "winograd";
    return algorithm == ConvAlgorithm::Pointwise ? "pointwise" : "direct";
}

ConvAlgorithm chooseByRule(const ConvPass& pass) {
    if (suitsWinograd(pass.attrs, pass.w, pass.y)) return ConvAlgorithm::Winograd;
    return suitsPointwise(pass.attrs, pass.w, pass.y) ? ConvAlgorithm::Pointwise : ConvAlgorithm::Direct;
}

}  // namespace lockstep::cpu
