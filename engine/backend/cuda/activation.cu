#include "engine/ops/activation.h"

#include <cmath>

#include "engine/backend/cuda/map.h"

namespace lockstep::cuda {

namespace {

LOCKSTEP_CARD inline float normalCdf(float x) { return 0.5f * erfcf(-x * 0.70710678118654752f); }
LOCKSTEP_CARD inline float normalDensity(float x) { return 0.39894228040143268f * expf(-0.5f * x * x); }
LOCKSTEP_CARD inline float sigmoid(float x) { return 1 / (1 + expf(-x)); }

struct Gelu {
    LOCKSTEP_CARD float operator()(float x) const { return x * normalCdf(x); }
};
struct GeluBackward {
    LOCKSTEP_CARD float operator()(float x, float dy) const { return dy * (normalCdf(x) + x * normalDensity(x)); }
};
struct Silu {
    LOCKSTEP_CARD float operator()(float x) const { return x * sigmoid(x); }
};
struct SiluBackward {
    LOCKSTEP_CARD float operator()(float x, float dy) const {
        const float s = sigmoid(x);
        return dy * s * (1 + x * (1 - s));
    }
};

// use(forward, backward)
template <class Use>
std::unique_ptr<Kernel> withActivation(const Order& order, Use use) {
    switch (activationKind(*order.node.op)) {
        case ActivationKind::Gelu: return use(Gelu{}, GeluBackward{});
        case ActivationKind::Silu: return use(Silu{}, SiluBackward{});
    }
    return nullptr;
}

}  // namespace

std::unique_ptr<Kernel> makeActivation(const Order& order) {
    return withActivation(order, [&](auto forward, auto) { return mapKernel<1>(order, forward); });
}

std::unique_ptr<Kernel> makeActivationBackward(const Order& order) {
    return withActivation(order, [&](auto, auto backward) { return mapKernel<2>(order, backward); });
}

}  // namespace lockstep::cuda
