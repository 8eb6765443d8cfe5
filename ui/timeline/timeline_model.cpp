#include "ui/timeline/timeline_model.h"

#include <algorithm>

namespace lockstep::ui {

namespace {

constexpr std::size_t kMostSlots = 32;      // more than readers or buckets; bounds what a damaged trace costs
constexpr std::size_t kReadsLookedAt = 64;  // per reader: more than batches wait in a loader
constexpr std::uint64_t kLookedAtInBlock = 4096;
constexpr std::uint32_t kWaitForData = 0;  // names of the trace follow

std::int64_t roundedUp(std::int64_t value, std::int64_t stride) { return (value + stride - 1) / stride * stride; }

// The least of 1, 2, 5, 10, 20, 50… that leaves no more than `most` of `count`.
std::int64_t strideFor(std::int64_t count, std::int64_t most) {
    for (std::int64_t decade = 1;; decade *= 10) {
        for (const std::int64_t stride : {decade, 2 * decade, 5 * decade}) {
            if ((count + stride - 1) / stride <= most) return stride;
        }
    }
}

}  // namespace

Row rowOf(SpanKind kind) {
    switch (kind) {
        case SpanKind::Load: return Row::Load;
        case SpanKind::Compute: return Row::Compute;
        case SpanKind::Reduce: return Row::Reduce;
        case SpanKind::Update: return Row::Update;
        case SpanKind::WaitReduce:
        case SpanKind::WaitData: return Row::Wait;
    }
    return Row::Compute;
}

SpanKind kindOf(std::string_view lane, std::string_view name) {
    if (lane == "load") return SpanKind::Load;
    if (lane == "all-reduce") return SpanKind::Reduce;
    if (name.starts_with("wait for all-reduce")) return SpanKind::WaitReduce;
    if (name.starts_with("wait for ")) return SpanKind::WaitData;
    for (const std::string_view update : {"update ", "square-sum ", "gate", "commit "}) {
        if (name.starts_with(update)) return SpanKind::Update;
    }
    return SpanKind::Compute;
}

void TimelineModel::append(const std::vector<std::string>& names, const std::vector<TraceReader::Lane>& lanes,
                           std::vector<TraceReader::LaneSpan> spans) {
    if (spans.empty()) return;
    const bool first = m_added == 0;
    m_names.assign(1, "wait for data");
    m_names.insert(m_names.end(), names.begin(), names.end());
    // By their ends: a batch's reading comes before the step that uses it.
    std::ranges::stable_sort(spans, {}, [](const auto& each) { return each.span.endNs; });
    for (const auto& [lane, span] : spans) {
        if (lane >= lanes.size() || span.name >= names.size() || span.endNs < span.beginNs) continue;
        const SpanKind kind = kindOf(lanes[lane].name, names[span.name]);
        add(lanes[lane].rank, {span.beginNs, span.endNs, span.step, span.name + 1, kind});
    }
    if (first) m_origin = m_range.begin;
    forgetOldest();
    ++m_revision;
}

void TimelineModel::clear() {
    const std::uint64_t revision = m_revision + 1;
    *this = TimelineModel(m_capacity);
    m_revision = revision;
}

void TimelineModel::add(int rank, const Span& span) {
    if (span.kind != SpanKind::Load && span.kind != SpanKind::Reduce) {
        addWaitForData(rank, span);
        markStep(rank, span);
    }
    Lane* const lane = laneFor(rank, span);
    if (!lane) return;
    m_range = m_added == 0 ? TimeRange{span.begin, span.end}
                           : TimeRange{std::min(m_range.begin, span.begin), std::max(m_range.end, span.end)};
    lane->spans.append(span);
    ++m_added;
}

void TimelineModel::addWaitForData(int rank, const Span& span) {
    RankState& state = m_ranks[rank];
    const std::int64_t from = state.computeEnd;
    const bool follows = state.computed;
    state = {std::max(state.computeEnd, span.end), true};
    if (!follows || span.begin <= from) return;
    std::int64_t read = from;
    for (const Lane* lane : m_slots[{rank, Row::Load}]) {
        const std::uint64_t last = lane->spans.end(),
                            known = std::min<std::uint64_t>(lane->spans.size(), kReadsLookedAt);
        for (std::uint64_t i = last - known; i < last; ++i) {
            const Span& each = lane->spans.at(i);
            if (each.step == span.step && each.end <= span.begin) read = std::max(read, each.end);
        }
    }
    if (read == from) return;
    const Span wait{from, read, span.step, kWaitForData, SpanKind::WaitData};
    Lane* const lane = laneFor(rank, wait);
    if (!lane) return;
    lane->spans.append(wait);
    ++m_added;
}

TimelineModel::Lane* TimelineModel::laneFor(int rank, const Span& span) {
    const Row row = rowOf(span.kind);
    Slots& lanes = m_slots[{rank, row}];
    Lane* lowest = nullptr;
    for (Lane* lane : lanes) {
        if (!lane->spans.fits(span.begin)) continue;
        if (lane->spans.lastName() == span.name) return lane;
        if (!lowest) lowest = lane;
    }
    if (lowest || lanes.size() >= kMostSlots) return lowest;
    return lanes.emplace_back(newLane(rank, row, static_cast<int>(lanes.size())));
}

TimelineModel::Lane* TimelineModel::newLane(int rank, Row row, int slot) {
    const auto key = [](const auto& lane) { return std::tuple(lane->rank, lane->row, lane->slot); };
    const auto at = std::ranges::lower_bound(m_lanes, std::tuple(rank, row, slot), {}, key);
    return m_lanes.insert(at, std::make_unique<Lane>(Lane{rank, row, slot, {}}))->get();
}

void TimelineModel::markStep(int rank, const Span& span) {
    if (m_steps.empty() || rank < m_stepRank) {
        m_steps.clear();
        m_stepRank = rank;
    }
    if (rank != m_stepRank || (!m_steps.empty() && span.step <= m_steps.back().step)) return;
    m_steps.push_back({span.begin, span.step});
}

std::uint64_t TimelineModel::size() const {
    std::uint64_t count = 0;
    for (const auto& lane : m_lanes) count += lane->spans.size();
    return count;
}

std::uint64_t TimelineModel::endedBy(std::int64_t time) const {
    std::uint64_t count = 0;
    for (const auto& lane : m_lanes) count += lane->spans.firstEndingAfter(time) - lane->spans.first();
    return count;
}

// More than need be, so that it happens seldom.
void TimelineModel::forgetOldest() {
    const std::uint64_t count = size();
    if (count <= m_capacity) return;
    const std::uint64_t leave = std::min<std::uint64_t>(count - m_capacity + m_capacity / 8, count);
    std::int64_t low = m_range.begin, high = m_range.end;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (endedBy(middle) < leave) low = middle + 1;
        else high = middle;
    }
    m_range.begin = m_range.end;
    for (const auto& lane : m_lanes) {
        lane->spans.dropUntil(low);
        if (lane->spans.size() > 0) m_range.begin = std::min(m_range.begin, lane->spans.at(lane->spans.first()).begin);
    }
    while (!m_steps.empty() && m_steps.front().begin < m_range.begin) m_steps.pop_front();
}

std::vector<int> TimelineModel::ranks() const {
    std::vector<int> ranks;
    for (const auto& lane : m_lanes) {
        if (ranks.empty() || ranks.back() != lane->rank) ranks.push_back(lane->rank);
    }
    return ranks;
}

const std::string& TimelineModel::name(std::uint32_t id) const {
    static const std::string unknown = "?";
    return id < m_names.size() ? m_names[id] : unknown;
}

std::vector<TimelineModel::StepMark> TimelineModel::steps(TimeRange range, std::size_t most) const {
    auto at = std::ranges::lower_bound(m_steps, range.begin, {}, &StepMark::begin);
    const auto end = std::ranges::lower_bound(m_steps, range.end, {}, &StepMark::begin);
    std::vector<StepMark> marks;
    if (at >= end || most == 0) return marks;
    const std::int64_t count = std::prev(end)->step - at->step + 1;
    const std::int64_t stride = strideFor(count, std::max<std::int64_t>(static_cast<std::int64_t>(most) - 1, 1));
    // Counted as people do, from 1.
    while (at < end && marks.size() < most) {
        const std::int64_t wanted = roundedUp(at->step + 1, stride) - 1;
        at =
            std::lower_bound(at, end, wanted, [](const StepMark& mark, std::int64_t step) { return mark.step < step; });
        if (at >= end) break;
        if ((at->step + 1) % stride == 0) marks.push_back(*at);
        ++at;
    }
    return marks;
}

std::optional<TimelineModel::StepMark> TimelineModel::stepAt(std::int64_t time) const {
    const auto next = std::ranges::upper_bound(m_steps, time, {}, &StepMark::begin);
    if (m_steps.empty()) return std::nullopt;
    return next == m_steps.begin() ? *next : *std::prev(next);
}

std::optional<TimeRange> TimelineModel::rangeOfStep(std::int64_t step) const {
    const auto found = std::ranges::lower_bound(m_steps, step, {}, &StepMark::step);
    if (found == m_steps.end() || found->step != step) return std::nullopt;
    const auto next = std::next(found);
    return TimeRange{found->begin, next == m_steps.end() ? m_range.end : next->begin};
}

std::optional<TimelineModel::Hit> TimelineModel::hit(const Lane& lane, std::int64_t time, std::int64_t pixel) const {
    std::vector<FoldedBlock> blocks;
    lane.spans.fold({(time / pixel - 1) * pixel, time + pixel}, pixel, blocks);
    const FoldedBlock* found = nullptr;
    for (const FoldedBlock& block : blocks) {  // each is drawn at least a pixel wide
        if (time >= block.begin && time < std::max(block.end, block.begin + pixel)) found = &block;
    }
    if (!found) return std::nullopt;
    Hit hit{&lane, *found, lane.spans.at(found->first)};
    const std::uint64_t end = found->first + std::min(found->count, kLookedAtInBlock);
    for (std::uint64_t i = found->first; i < end; ++i) {
        if (lane.spans.at(i).duration() > hit.longest.duration()) hit.longest = lane.spans.at(i);
    }
    return hit;
}

}  // namespace lockstep::ui
