#include "ui/timeline/span_track.h"

#include <algorithm>

namespace lockstep::ui {

namespace {

std::size_t indexOf(SpanKind kind) { return static_cast<std::size_t>(kind); }

std::int64_t pixelOf(std::int64_t time, std::int64_t pixel) {
    const std::int64_t quotient = time / pixel;
    return time < quotient * pixel ? quotient - 1 : quotient;
}

SpanKind busiest(const KindTimes& times, SpanKind otherwise) {
    const auto most = std::ranges::max_element(times);
    return *most > 0 ? static_cast<SpanKind>(most - times.begin()) : otherwise;
}

}  // namespace

void SpanTrack::append(const Span& span) {
    if (m_spans.size() % kStride == 0) m_sums.push_back(m_total);
    m_total[indexOf(span.kind)] += span.duration();
    m_spans.push_back(span);
}

void SpanTrack::dropUntil(std::int64_t cut) {
    while (m_spans.size() >= kStride && m_spans[kStride - 1].end <= cut) {
        m_spans.erase(m_spans.begin(), m_spans.begin() + kStride);
        m_sums.pop_front();
        m_first += kStride;
    }
}

std::uint64_t SpanTrack::firstEndingAfter(std::int64_t time) const {
    const auto found = std::ranges::upper_bound(m_spans, time, {}, &Span::end);
    return m_first + static_cast<std::uint64_t>(found - m_spans.begin());
}

std::uint64_t SpanTrack::firstBeginningFrom(std::int64_t time) const {
    const auto found = std::ranges::lower_bound(m_spans, time, {}, &Span::begin);
    return m_first + static_cast<std::uint64_t>(found - m_spans.begin());
}

KindTimes SpanTrack::before(std::uint64_t number) const {
    const std::uint64_t stride = (number - m_first) / kStride;
    if (stride >= m_sums.size()) return m_total;
    KindTimes sums = m_sums[static_cast<std::size_t>(stride)];
    for (std::uint64_t i = m_first + stride * kStride; i < number; ++i) sums[indexOf(at(i).kind)] += at(i).duration();
    return sums;
}

KindTimes SpanTrack::times(std::uint64_t from, std::uint64_t to) const {
    if (to <= from) return {};
    KindTimes sums = before(to);
    const KindTimes skipped = before(from);
    for (std::size_t kind = 0; kind < kSpanKinds; ++kind) sums[kind] -= skipped[kind];
    return sums;
}

KindTimes SpanTrack::times(TimeRange range) const {
    const std::uint64_t from = firstEndingAfter(range.begin), to = firstBeginningFrom(range.end);
    if (to <= from) return {};
    KindTimes sums = times(from, to);
    const Span &head = at(from), &tail = at(to - 1);
    sums[indexOf(head.kind)] -= std::max<std::int64_t>(range.begin - head.begin, 0);
    sums[indexOf(tail.kind)] -= std::max<std::int64_t>(tail.end - range.end, 0);
    return sums;
}

void SpanTrack::fold(TimeRange range, std::int64_t pixel, std::vector<FoldedBlock>& blocks) const {
    const std::uint64_t to = firstBeginningFrom(range.end);
    std::uint64_t from = firstEndingAfter(range.begin);
    while (from < to) from = foldOne(from, to, pixel, blocks);
}

std::uint64_t SpanTrack::foldOne(std::uint64_t from, std::uint64_t to, std::int64_t pixel,
                                 std::vector<FoldedBlock>& blocks) const {
    const Span& head = at(from);
    std::uint64_t next = from + 1;
    if (head.duration() < pixel) {
        next = std::min(to, firstBeginningFrom((pixelOf(head.begin, pixel) + 1) * pixel));
        // Only the last of them can be wider than the pixel in which all begin.
        if (next > from + 1 && at(next - 1).duration() >= pixel) --next;
    }
    const KindTimes sums = times(from, next);
    std::int64_t busy = 0;
    for (const std::int64_t each : sums) busy += each;
    blocks.push_back({head.begin, at(next - 1).end, from, next - from, busy, busiest(sums, head.kind)});
    return next;
}

}  // namespace lockstep::ui
