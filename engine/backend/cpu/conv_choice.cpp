#include "engine/backend/cpu/conv_choice.h"

#include <algorithm>

#include "engine/backend/cpu/joined_conv.h"

namespace lockstep::cpu {

std::string text(ConvAlgorithm algorithm) {
    switch (algorithm) {
        case ConvAlgorithm::Direct: return "direct";
        case ConvAlgorithm::DirectBf16: return kDirectBf16;
        case ConvAlgorithm::Winograd: return "winograd";
        case ConvAlgorithm::Pointwise: return "pointwise";
        case ConvAlgorithm::Samples: return kSamplesBf16;
        case ConvAlgorithm::Gathered: return kGatheredBf16;
        case ConvAlgorithm::Padded: return kPaddedBf16;
        case ConvAlgorithm::Joined: return kJoinedBf16;
    }
    return "";
}

bool suits(ConvAlgorithm ofTiles, const ConvPass& pass) {
    switch (ofTiles) {
        case ConvAlgorithm::Samples: return suitsSamples(pass.attrs, pass.x, pass.w);
        case ConvAlgorithm::Gathered: return suitsGathered(pass.attrs, pass.w);
        case ConvAlgorithm::Padded: return suitsPadded(pass.attrs, pass.x, pass.w);
        case ConvAlgorithm::Joined: return joinedConv(pass.attrs, pass.x, pass.w, pass.y).has_value();
        default: return false;
    }
}

ConvAlgorithm chooseByRule(const ConvPass& pass) {
    if (suitsWinograd(pass.attrs, pass.w, pass.y)) return ConvAlgorithm::Winograd;
    return suitsPointwise(pass.attrs, pass.w, pass.y) ? ConvAlgorithm::Pointwise : ConvAlgorithm::Direct;
}

}  // namespace lockstep::cpu
