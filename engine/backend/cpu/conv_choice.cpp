#include "engine/backend/cpu/conv_choice.h"

namespace lockstep::cpu {

std::string text(ConvAlgorithm algorithm) {
    switch (algorithm) {
        case ConvAlgorithm::Direct: return "direct";
        case ConvAlgorithm::DirectBf16: return kDirectBf16;
        case ConvAlgorithm::Winograd: return "winograd";
        case ConvAlgorithm::Pointwise: return "pointwise";
        case ConvAlgorithm::Samples: return kSamplesBf16;
    }
    return "";
}

ConvAlgorithm chooseByRule(const ConvPass& pass) {
    if (suitsWinograd(pass.attrs, pass.w, pass.y)) return ConvAlgorithm::Winograd;
    return suitsPointwise(pass.attrs, pass.w, pass.y) ? ConvAlgorithm::Pointwise : ConvAlgorithm::Direct;
}

}  // namespace lockstep::cpu
