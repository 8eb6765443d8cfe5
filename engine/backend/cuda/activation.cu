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

}  // namespace

std::unique_ptr<Kernel> makeGelu(const Order& order) { return mapKernel<1>(order, Gelu{}); }
std::unique_ptr<Kernel> makeGeluBackward(const Order& order) { return mapKernel<2>(order, GeluBackward{}); }
std::unique_ptr<Kernel> makeSilu(const Order& order) { return mapKernel<1>(order, Silu{}); }
std::unique_ptr<Kernel> makeSiluBackward(const Order& order) { return mapKernel<2>(order, SiluBackward{}); }

}  // namespace lockstep::cuda
