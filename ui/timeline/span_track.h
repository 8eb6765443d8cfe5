#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace lockstep::ui {

// What a rank does with its time. WaitReduce: its computing stands still until an all-reduce is done; WaitData: until a
// batch has been read.
enum class SpanKind : std::uint8_t { Load, Compute, Reduce, Update, WaitReduce, WaitData };
constexpr std::size_t kSpanKinds = 6;
using KindTimes = std::array<std::int64_t, kSpanKinds>;  // nanoseconds by kind

// Half open, nanoseconds.
struct TimeRange {
    std::int64_t begin = 0, end = 0;
    std::int64_t length() const { return end - begin; }
    bool empty() const { return end <= begin; }
    bool operator==(const TimeRange&) const = default;
};

struct Span {
    std::int64_t begin = 0, end = 0, step = 0;
    std::uint32_t name = 0;
    SpanKind kind = SpanKind::Compute;
    std::int64_t duration() const { return end - begin; }
};

// One rectangle to draw: a span, or several that lie within one pixel.
struct FoldedBlock {
    std::int64_t begin = 0, end = 0;
    std::uint64_t first = 0, count = 0;  // spans of the track
    std::int64_t busy = 0;               // of which the spans take so many nanoseconds
    SpanKind kind = SpanKind::Compute;   // the one that takes the most of them
};

// Spans that do not overlap, in the order of time. They are numbered from the first that was ever added; the oldest may
// leave. Sums by kind are kept at every kStride spans, so that the sum of any range costs no more than 2 kStride steps.
class SpanTrack {
public:
    static constexpr std::uint64_t kStride = 32;

    bool fits(std::int64_t begin) const { return m_spans.empty() || begin >= m_spans.back().end; }
    std::optional<std::uint32_t> lastName() const {
        return m_spans.empty() ? std::nullopt : std::optional(m_spans.back().name);
    }
    void append(const Span& span);  // fits(span.begin) must hold
    // Leaves out spans that end at `cut` or before, kStride at a time.
    void dropUntil(std::int64_t cut);

    std::uint64_t first() const { return m_first; }
    std::uint64_t end() const { return m_first + m_spans.size(); }
    std::uint64_t size() const { return m_spans.size(); }
    const Span& at(std::uint64_t number) const { return m_spans[static_cast<std::size_t>(number - m_first)]; }

    std::uint64_t firstEndingAfter(std::int64_t time) const;
    std::uint64_t firstBeginningFrom(std::int64_t time) const;
    KindTimes times(std::uint64_t from, std::uint64_t to) const;  // of the spans from…to-1
    KindTimes times(TimeRange range) const;                       // only what lies in the range

    // Appends what to draw of the range when a pixel is so many nanoseconds long. Spans shorter than that which begin
    // in the same pixel (counted from time 0, so that panning changes nothing) become one block: at most 2 (length /
    // pixel + 2) blocks, whatever the number of spans, at the cost of a binary search each.
    void fold(TimeRange range, std::int64_t pixel, std::vector<FoldedBlock>& blocks) const;

private:
    std::uint64_t foldOne(std::uint64_t from, std::uint64_t to, std::int64_t pixel,
                          std::vector<FoldedBlock>& blocks) const;
    KindTimes before(std::uint64_t number) const;  // of all since the first that is kept

    std::deque<Span> m_spans;
    std::deque<KindTimes> m_sums;  // at m_first, m_first + kStride, …
    std::uint64_t m_first = 0;     // a multiple of kStride
    KindTimes m_total{};
};

}  // namespace lockstep::ui
