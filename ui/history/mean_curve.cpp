#include "ui/history/mean_curve.h"

#include <cmath>
#include <vector>

#include "ui/history/seed_groups.h"

namespace lockstep::ui {

namespace {

using Members = std::span<const std::shared_ptr<const Curve>>;

// Times count only where the value does: mean and time must meet at the same steps.
template <class Take>
CurveBand bandAlongSteps(Members members, Take&& take) {
    std::vector<CurvePoints> all;
    for (const auto& curve : members) {
        CurvePoints& points = all.emplace_back();
        for (std::size_t i = 0; i < curve->size(); ++i) {
            if (!std::isfinite(curve->value(i))) continue;
            points.x.push_back(curve->x(CurveAxis::Step, i));
            points.y.push_back(take(*curve, i));
        }
    }
    return bandOf(all);
}

CurveBand bandOfTimes(Members members, CurveAxis axis) {
    return bandAlongSteps(members, [axis](const Curve& curve, std::size_t i) { return curve.x(axis, i); });
}

struct Edges {
    double low = 0, high = 0;
};

Edges edgesAt(const CurveBand& values, std::size_t i, BandKind kind) {
    if (kind == BandKind::Extremes) return {values.low[i], values.high[i]};
    const double root = kind == BandKind::StandardError ? std::sqrt(static_cast<double>(values.count[i])) : 1;
    return {values.mean[i] - values.deviation[i] / root, values.mean[i] + values.deviation[i] / root};
}

}  // namespace

MeanCurve meanOf(Members members, BandKind kind) {
    const CurveBand values = bandAlongSteps(members, [](const Curve& curve, std::size_t i) { return curve.value(i); });
    const CurveBand seconds = bandOfTimes(members, CurveAxis::Seconds);
    const CurveBand deviceSeconds = bandOfTimes(members, CurveAxis::DeviceSeconds);
    auto mean = std::make_shared<Curve>();
    for (std::size_t i = 0; i < values.x.size(); ++i)
        mean->append(Curve::Place{values.x[i], seconds.mean[i], deviceSeconds.mean[i]}, values.mean[i]);
    auto low = std::make_shared<Curve>(Curve::alongside(*mean)),
         high = std::make_shared<Curve>(Curve::alongside(*mean));
    for (std::size_t i = 0; i < values.x.size(); ++i) {
        const Edges edges = edgesAt(values, i, kind);
        low->appendValue(edges.low), high->appendValue(edges.high);
    }
    return {std::move(mean), {std::move(low), std::move(high)}};
}

}  // namespace lockstep::ui
