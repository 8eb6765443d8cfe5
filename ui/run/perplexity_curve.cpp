#include "ui/run/perplexity_curve.h"

#include "engine/spec/perplexity.h"

namespace lockstep::ui {

std::shared_ptr<const Curve> PerplexityCurve::follow(const std::shared_ptr<const Curve>& loss) {
    if (loss != m_loss) {
        m_loss = loss;
        m_curve = std::make_shared<Curve>(Curve::alongside(*loss));
    }
    for (std::size_t i = m_curve->size(); i < loss->size(); ++i) m_curve->appendValue(perplexity(loss->value(i)));
    return m_curve;
}

}  // namespace lockstep::ui
