#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/session/trace_file.h"
#include "ui/timeline/span_track.h"

namespace lockstep::ui {

// The rows of a rank from top to bottom.
enum class Row : std::uint8_t { Load, Compute, Reduce, Update, Wait };
constexpr std::size_t kRows = 5;
Row rowOf(SpanKind kind);
SpanKind kindOf(std::string_view lane, std::string_view name);  // as the engine names lanes and spans

// What happened on all ranks of a run, in memory, oldest spans leaving first; needs no window, any one thread. The
// waiting for a batch, which the engine does not record, is derived: the gap before a step up to the end of its batch's
// "read". Times are the trace's: nanoseconds of the steady clock. Steps count from 0, as in traces.
class TimelineModel {
public:
    struct Lane {
        int rank = 0;
        Row row = Row::Compute;
        int slot = 0;  // spans that overlap (readers, buckets under way) lie in several slots
        SpanTrack spans;
    };
    struct StepMark {
        std::int64_t begin = 0, step = 0;
    };
    struct Hit {
        const Lane* lane = nullptr;
        FoldedBlock block;
        Span longest;  // of the block's first spans; the only one when count is 1
    };
    // Parts of a range on one rank; what they leave over is bookkeeping, evaluation's reading, pauses.
    struct RankTimes {
        int rank = 0;
        std::int64_t length = 0, compute = 0, update = 0, waitReduce = 0, waitData = 0;
        std::int64_t reducing = 0;  // while at least one all-reduce was under way
        std::int64_t other() const { return length - compute - update - waitReduce - waitData; }
        std::int64_t hidden() const { return reducing > waitReduce ? reducing - waitReduce : 0; }
        double share(std::int64_t part) const {
            return length > 0 ? static_cast<double>(part) / static_cast<double>(length) : 0;
        }
    };
    struct NameTime {
        std::uint32_t name = 0;
        std::int64_t time = 0;
        std::uint64_t count = 0;
    };

    static constexpr std::size_t kCapacity = 1'000'000;
    explicit TimelineModel(std::size_t capacity = kCapacity) : m_capacity(capacity) {}

    // What TraceReader::read() gave, and the names and lanes that it knew then. Costs what is new.
    void append(const std::vector<std::string>& names, const std::vector<TraceReader::Lane>& lanes,
                std::vector<TraceReader::LaneSpan> spans);
    void clear();

    bool empty() const { return m_lanes.empty(); }
    std::uint64_t revision() const { return m_revision; }  // another one after every change
    std::uint64_t size() const;                            // spans in memory
    std::uint64_t added() const { return m_added; }        // spans that ever came, the derived ones among them
    TimeRange range() const { return m_range; }            // of what is in memory
    std::int64_t origin() const { return m_origin; }       // where the first spans that ever came began
    // By rank, row, slot; spans of one name stay in one slot where they can. Pointers live until clear().
    const std::vector<std::unique_ptr<Lane>>& lanes() const { return m_lanes; }
    std::vector<int> ranks() const;
    const std::string& name(std::uint32_t id) const;

    // Beginnings of steps on the lowest rank: at most `most` of the range, then only every 2nd, 5th, 10th… step.
    std::vector<StepMark> steps(TimeRange range, std::size_t most) const;
    std::optional<StepMark> stepAt(std::int64_t time) const;  // the one going on; before all, the first
    std::optional<TimeRange> rangeOfStep(std::int64_t step) const;
    // What is drawn at a time when a pixel is so long.
    std::optional<Hit> hit(const Lane& lane, std::int64_t time, std::int64_t pixel) const;

    // The range is cut to range() first. These cost what lies in the range.
    std::vector<RankTimes> statistics(TimeRange wanted) const;
    std::vector<NameTime> longestNames(TimeRange wanted, int rank, std::size_t most) const;  // of compute

private:
    struct RankState {
        std::int64_t computeEnd = 0;
        bool computed = false;
    };
    using Slots = std::vector<Lane*>;

    void add(int rank, const Span& span);
    void addWaitForData(int rank, const Span& span);
    Lane* laneFor(int rank, const Span& span);
    Lane* newLane(int rank, Row row, int slot);
    void markStep(int rank, const Span& span);
    void forgetOldest();
    std::uint64_t endedBy(std::int64_t time) const;
    TimeRange cut(TimeRange wanted) const;
    std::int64_t reducing(int rank, TimeRange range) const;

    std::size_t m_capacity;
    std::uint64_t m_revision = 0, m_added = 0;
    std::int64_t m_origin = 0;
    TimeRange m_range;
    std::vector<std::string> m_names;
    std::vector<std::unique_ptr<Lane>> m_lanes;
    std::map<std::pair<int, Row>, Slots> m_slots;
    std::map<int, RankState> m_ranks;
    std::deque<StepMark> m_steps;
    int m_stepRank = 0;
};

}  // namespace lockstep::ui
