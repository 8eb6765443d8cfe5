#pragma once
#include <cstdint>

#include "engine/core/precision.h"

namespace lockstep {

// By what a run in fp16 multiplies its loss, so that small gradients do not vanish below 6e-8 (Micikevicius et al.,
// "Mixed precision training", arXiv 1710.03740, section 3.2); the gate takes it out again. A power of two that looks
// for its own size: halved whenever a gradient overflows, doubled after kPatience updates in a row without. Gradients
// are sums over a batch here, not means, so it begins at 65,536 / batch. In all other precisions it is 1 and stays so.
// All ranks see the same gates, so all have the same scale.
class LossScale {
public:
    static constexpr std::int64_t kPatience = 2000;
    static constexpr double kFirst = 65536, kLeast = 0x1p-24, kMost = 0x1p24;

    LossScale(Precision precision, std::int64_t batch);
    // As a checkpoint has it. A scale of 0 changes nothing, nor does anything in a precision that needs none.
    void restore(double scale, std::int64_t updates);

    double value() const { return m_scale; }
    std::int64_t updates() const { return m_updates; }  // in a row, since it last changed
    void applied();
    bool lower();  // false: it is not at fault, or at its least

private:
    bool m_adapts;
    double m_scale = 1;
    std::int64_t m_updates = 0;
};

}  // namespace lockstep
