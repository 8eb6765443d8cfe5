#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/core/trace.h"

namespace lockstep {

// The spans of an attempt on their way to the window: files that grow while the run goes on, in the run directory's
// folder "trace", named <attempt>-<segment>.trace. A segment says all names and lanes again, so that each can be read
// alone; the newest two are kept. Little-endian: "LSTRACE1", then records of u32 kind, u32 bytes, payload:
//   1 name   u32 id, text          2 lane   u32 id, i32 rank, text
//   3 spans  u32 lane, u32 0, then 32 bytes each: u32 name, u32 0, i64 step, i64 begin, i64 end (steady clock, ns)
// A record at the end of a file may be there in part.
constexpr std::size_t kTraceSegmentBytes = 32u << 20;

// Appends what is new on a board; one thread.
class TraceWriter {
public:
    // Makes the folder and removes what earlier attempts left there. Throws EngineError(Io) naming the file.
    TraceWriter(std::filesystem::path folder, std::int64_t attempt, const TraceBoard& board,
                std::size_t segmentBytes = kTraceSegmentBytes);
    ~TraceWriter();
    TraceWriter(const TraceWriter&) = delete;
    TraceWriter& operator=(const TraceWriter&) = delete;

    void flush();  // throws EngineError(Io) naming the file

private:
    void beginSegment();
    void describeNew(std::string& out);
    void append(const std::string& bytes);
    std::filesystem::path segment(int number) const;

    std::filesystem::path m_folder;
    std::int64_t m_attempt;
    const TraceBoard& m_board;
    std::size_t m_segmentBytes, m_written = 0;
    int m_fd = -1, m_segment = 0;
    std::size_t m_names = 0, m_lanes = 0;  // said in this segment
    std::vector<std::uint64_t> m_next;     // by lane
};

// Follows a run's trace; one thread.
class TraceReader {
public:
    struct Lane {
        int rank = 0;
        std::string name;
    };
    struct LaneSpan {
        std::uint32_t lane = 0;
        TraceSpan span;
    };

    TraceReader(std::filesystem::path folder, std::int64_t attempt) : m_folder(std::move(folder)), m_attempt(attempt) {}

    // Spans that have come since the last call, in the order in which they were written; empty while there is none, or
    // no file. A damaged record ends its segment: what follows it there is left out. No allocation is larger than 8
    // times what is new in a segment, of which at most 128 MiB are read at once.
    std::vector<LaneSpan> read();
    const std::vector<std::string>& names() const { return m_names; }  // by TraceSpan::name
    const std::vector<Lane>& lanes() const { return m_lanes; }         // by LaneSpan::lane

private:
    int newerSegment() const;  // 0: none
    void readSegment(std::vector<LaneSpan>& spans);
    std::string rest();
    bool take(std::uint32_t kind, std::string_view payload, std::vector<LaneSpan>& spans);

    std::filesystem::path m_folder;
    std::int64_t m_attempt;
    int m_segment = 0;
    std::size_t m_offset = 0;
    bool m_damaged = false;
    std::vector<std::string> m_names;
    std::vector<Lane> m_lanes;
};

}  // namespace lockstep
