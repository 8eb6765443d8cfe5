#pragma once
#include <memory>

#include "ui/plot/curve.h"

namespace lockstep::ui {

// The perplexity of a loss along its curve, at the same steps and times.
class PerplexityCurve {
public:
    // That of `loss` as it is now: the same curve grows as long as `loss` is the same, another one begins with another.
    std::shared_ptr<const Curve> follow(const std::shared_ptr<const Curve>& loss);

private:
    std::shared_ptr<const Curve> m_loss;
    std::shared_ptr<Curve> m_curve;
};

}  // namespace lockstep::ui
