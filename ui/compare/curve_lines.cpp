#include "ui/compare/curve_lines.h"

#include <QCoreApplication>
#include <algorithm>
#include <utility>

namespace lockstep::ui {

namespace {

constexpr std::int64_t kGrey = -1;

struct CurveLinesText {
    Q_DECLARE_TR_FUNCTIONS(CurveLinesText)
};

QString meaningOf(BandKind kind, std::size_t seeds) {
    switch (kind) {
        case BandKind::Deviation: return CurveLinesText::tr("standard deviation of %1 seeds").arg(seeds);
        case BandKind::StandardError: return CurveLinesText::tr("standard error of the mean of %1 seeds").arg(seeds);
        case BandKind::Extremes: return CurveLinesText::tr("half the range of %1 seeds").arg(seeds);
    }
    return {};
}

bool hasPoints(const MemberCurve& member) { return member.curve && !member.curve->empty(); }

PlotSeries lineOfOne(const MemberCurve& member, const ComparedTrial& trial, int look) {
    PlotSeries made{.name = trial.name, .curve = member.curve, .color = look, .marker = seriesMarker(look)};
    made.stepsPerEpoch = member.stepsPerEpoch, made.samplesPerStep = member.samplesPerStep;
    made.measured = member.measured;
    made.endsOpen = trial.isCutShort;
    made.key = trial.trial;
    return made;
}

}  // namespace

CurveLines::Lines CurveLines::make(const CompareScene& scene, const std::vector<CurveGroup>& groups, const Wish& wish,
                                   const CurveOf& curveOf) {
    Lines lines;
    m_lines.clear();
    for (const CurveGroup& group : groups) {
        PlotSeries made = line(scene, group, wish, curveOf);
        if (!made.curve) continue;
        m_lines.emplace(group.group, made);
        if (group.isColoured() && wish.hasMembers && group.rows.size() > 1) addMembers(lines, scene, group, curveOf);
        (group.isColoured() ? lines.series : lines.behind).push_back(std::move(made));
        addPinned(lines, scene, group, curveOf);
    }
    std::ranges::stable_partition(lines.behind, [](const PlotSeries& each) { return each.color < 0; });
    m_known = std::move(m_used);
    m_used.clear();
    return lines;
}

const PlotSeries* CurveLines::lineOf(std::int64_t group) const {
    const auto found = m_lines.find(group);
    return found == m_lines.end() ? nullptr : &found->second;
}

PlotSeries CurveLines::line(const CompareScene& scene, const CurveGroup& group, const Wish& wish,
                            const CurveOf& curveOf) {
    Members members;
    MemberCurve first;
    for (const std::size_t row : group.rows) {
        const MemberCurve member = curveOf(scene.table->trials[row].trial);
        if (!hasPoints(member)) continue;
        if (members.empty()) first = member;
        members.push_back(member.curve);
    }
    PlotSeries made{.name = group.name, .curve = nullptr};
    if (members.empty()) return made;
    made.color = group.isColoured() ? group.look() : kGrey;
    made.marker = seriesMarker(group.look());
    made.stepsPerEpoch = first.stepsPerEpoch, made.samplesPerStep = first.samplesPerStep;
    made.smoothed = wish.isSmoothed;
    made.endsOpen = group.isCutShort;
    made.key = scene.table->trials[group.lead].trial;
    made.curve = first.curve, made.measured = first.measured;
    if (members.size() == 1) return made;
    const MeanCurve& means = mean(members, wish.band.value_or(BandKind::Deviation));
    made.curve = means.mean, made.measured = nullptr;
    if (wish.band && group.isColoured()) made.band = means.band;
    if (made.band) made.band->meaning = meaningOf(*wish.band, members.size());
    return made;
}

void CurveLines::addMembers(Lines& to, const CompareScene& scene, const CurveGroup& group,
                            const CurveOf& curveOf) const {
    for (const std::size_t row : group.rows) {
        const MemberCurve member = curveOf(scene.table->trials[row].trial);
        if (scene.passes[row] && hasPoints(member))
            to.behind.push_back(lineOfOne(member, scene.table->trials[row], group.look()));
    }
}

void CurveLines::addPinned(Lines& to, const CompareScene& scene, const CurveGroup& group,
                           const CurveOf& curveOf) const {
    for (const auto& [row, place] : group.apart) {
        const MemberCurve member = curveOf(scene.table->trials[row].trial);
        if (hasPoints(member)) to.series.push_back(lineOfOne(member, scene.table->trials[row], place));
    }
}

const MeanCurve& CurveLines::mean(const Members& members, BandKind kind) {
    const auto key = std::pair(members, kind);
    const auto known = m_known.find(key);
    return m_used[key] = known != m_known.end() ? known->second : meanOf(members, kind);
}

}  // namespace lockstep::ui
