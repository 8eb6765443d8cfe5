#include "ui/history/seed_groups.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

namespace lockstep::ui {

namespace {

// What specs that differ in seed and title alone say alike.
std::string withoutSeed(TrialSpec spec) {
    spec.seed = 0;
    spec.title.clear();
    return toJsonLine(spec);
}

CurvePoints finite(const CurvePoints& curve) {
    CurvePoints kept;
    for (std::size_t i = 0; i < std::min(curve.x.size(), curve.y.size()); ++i) {
        if (!std::isfinite(curve.y[i])) continue;
        kept.x.push_back(curve.x[i]);
        kept.y.push_back(curve.y[i]);
    }
    return kept;
}

// Welford's running mean and sum of squares ("Note on a method for calculating corrected sums of squares", 1962), the
// sum in `deviation`.
void add(CurveBand& band, std::size_t at, double value) {
    const int count = ++band.count[at];
    const double before = value - band.mean[at];
    band.mean[at] += before / count;
    band.deviation[at] += before * (value - band.mean[at]);
    band.low[at] = count == 1 ? value : std::min(band.low[at], value);
    band.high[at] = count == 1 ? value : std::max(band.high[at], value);
}

void add(CurveBand& band, const CurvePoints& curve) {
    std::size_t next = 0;  // the curve's first point not before x
    for (std::size_t i = 0; i < band.x.size(); ++i) {
        const double x = band.x[i];
        while (next < curve.x.size() && curve.x[next] < x) ++next;
        if (next == curve.x.size()) return;
        if (curve.x[next] == x) {
            add(band, i, curve.y[next]);
        } else if (next > 0) {
            const double share = (x - curve.x[next - 1]) / (curve.x[next] - curve.x[next - 1]);
            add(band, i, std::lerp(curve.y[next - 1], curve.y[next], share));
        }
    }
}

}  // namespace

std::vector<std::vector<std::size_t>> seedGroups(std::span<const TrialSpec> specs) {
    std::vector<std::vector<std::size_t>> groups;
    std::unordered_map<std::string, std::size_t> known;  // group by what its specs say
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const auto [group, isNew] = known.emplace(withoutSeed(specs[i]), groups.size());
        if (isNew) groups.emplace_back();
        groups[group->second].push_back(i);
    }
    return groups;
}

CurveBand bandOf(std::span<const CurvePoints> curves) {
    std::vector<CurvePoints> known;
    CurveBand band;
    for (const auto& curve : curves) {
        known.push_back(finite(curve));
        band.x.insert(band.x.end(), known.back().x.begin(), known.back().x.end());
    }
    std::sort(band.x.begin(), band.x.end());
    band.x.erase(std::unique(band.x.begin(), band.x.end()), band.x.end());
    band.mean.assign(band.x.size(), 0);
    for (auto* column : {&band.deviation, &band.low, &band.high}) column->assign(band.x.size(), 0);
    band.count.assign(band.x.size(), 0);
    for (const auto& curve : known) add(band, curve);
    for (std::size_t i = 0; i < band.x.size(); ++i) {
        band.deviation[i] = band.count[i] > 1 ? std::sqrt(band.deviation[i] / (band.count[i] - 1)) : 0;
    }
    return band;
}

}  // namespace lockstep::ui
