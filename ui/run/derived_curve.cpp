#include "ui/run/derived_curve.h"

namespace lockstep::ui {

std::shared_ptr<const Curve> DerivedCurve::follow(const std::shared_ptr<const Curve>& measured, const Metric& metric) {
    if (measured != m_measured) {
        m_measured = measured;
        m_curve = std::make_shared<Curve>(Curve::alongside(*measured));
    }
    for (std::size_t i = m_curve->size(); i < measured->size(); ++i)
        m_curve->appendValue(metric.derive(measured->value(i)));
    return m_curve;
}

}  // namespace lockstep::ui
