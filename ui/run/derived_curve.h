#pragma once
#include <memory>

#include "engine/spec/metrics.h"
#include "ui/plot/curve.h"

namespace lockstep::ui {

// A metric that follows from another one, along that one's curve, at the same steps and times: perplexity from loss.
class DerivedCurve {
public:
    // That of `measured` as it is now: the same curve grows as long as `measured` is the same, another one begins with
    // another. `metric` has a derive, always the same.
    std::shared_ptr<const Curve> follow(const std::shared_ptr<const Curve>& measured, const Metric& metric);

private:
    std::shared_ptr<const Curve> m_measured;
    std::shared_ptr<Curve> m_curve;
};

}  // namespace lockstep::ui
