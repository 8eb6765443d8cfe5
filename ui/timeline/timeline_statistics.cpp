#include <algorithm>
#include <limits>

#include "ui/timeline/timeline_model.h"

namespace lockstep::ui {

TimeRange TimelineModel::cut(TimeRange wanted) const {
    return {std::max(wanted.begin, m_range.begin), std::min(wanted.end, m_range.end)};
}

std::vector<TimelineModel::RankTimes> TimelineModel::statistics(TimeRange wanted) const {
    const TimeRange range = cut(wanted);
    std::vector<RankTimes> all;
    if (range.empty()) return all;
    for (const auto& lane : m_lanes) {
        if (all.empty() || all.back().rank != lane->rank) {
            all.push_back({.rank = lane->rank, .length = range.length()});
            all.back().reducing = reducing(lane->rank, range);
        }
        const KindTimes times = lane->spans.times(range);
        const auto of = [&](SpanKind kind) { return times[static_cast<std::size_t>(kind)]; };
        all.back().compute += of(SpanKind::Compute);
        all.back().update += of(SpanKind::Update);
        all.back().waitReduce += of(SpanKind::WaitReduce);
        all.back().waitData += of(SpanKind::WaitData);
    }
    return all;
}

// The union of all slots: merges them by their beginnings.
std::int64_t TimelineModel::reducing(int rank, TimeRange range) const {
    struct Cursor {
        const SpanTrack* track;
        std::uint64_t at, end;
    };
    std::vector<Cursor> cursors;
    for (const auto& lane : m_lanes) {
        if (lane->rank != rank || lane->row != Row::Reduce) continue;
        const std::uint64_t from = lane->spans.firstEndingAfter(range.begin),
                            to = lane->spans.firstBeginningFrom(range.end);
        if (from < to) cursors.push_back({&lane->spans, from, to});
    }
    std::int64_t busy = 0, until = range.begin;
    while (!cursors.empty()) {
        const auto next =
            std::ranges::min_element(cursors, {}, [](const Cursor& c) { return c.track->at(c.at).begin; });
        const Span& span = next->track->at(next->at);
        const std::int64_t from = std::max(span.begin, until), to = std::min(span.end, range.end);
        busy += std::max<std::int64_t>(to - from, 0);
        until = std::max(until, to);
        if (++next->at == next->end) cursors.erase(next);
    }
    return busy;
}

std::vector<TimelineModel::NameTime> TimelineModel::longestNames(TimeRange wanted, int rank, std::size_t most) const {
    const TimeRange range = cut(wanted);
    std::vector<NameTime> names(m_names.size());
    for (std::size_t i = 0; i < names.size(); ++i) names[i].name = static_cast<std::uint32_t>(i);
    for (const auto& lane : m_lanes) {
        if (lane->rank != rank || lane->row != Row::Compute || range.empty()) continue;
        const std::uint64_t end = lane->spans.firstBeginningFrom(range.end);
        for (std::uint64_t i = lane->spans.firstEndingAfter(range.begin); i < end; ++i) {
            const Span& span = lane->spans.at(i);
            names[span.name].time += std::min(span.end, range.end) - std::max(span.begin, range.begin);
            ++names[span.name].count;
        }
    }
    std::erase_if(names, [](const NameTime& each) { return each.count == 0; });
    std::ranges::stable_sort(names, std::ranges::greater{}, &NameTime::time);
    if (names.size() > most) names.resize(most);
    return names;
}

}  // namespace lockstep::ui
