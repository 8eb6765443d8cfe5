#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace lockstep {

// One thing that one lane of one rank did; times in nanoseconds of the steady clock.
struct TraceSpan {
    std::uint32_t name = 0;  // index into the board's names
    std::int64_t step = 0;
    std::int64_t beginNs = 0, endNs = 0;
};

std::int64_t traceNow();  // steady clock, nanoseconds

// A fixed ring of spans with exactly one writer thread. add() takes no lock and allocates nothing; once full, the
// oldest spans are overwritten. Readers may run at any time and get only spans that were complete.
class TraceLane {
public:
    TraceLane(int rank, std::string name, std::size_t capacity);  // capacity: a power of two
    void add(const TraceSpan& span) noexcept;
    std::vector<TraceSpan> read() const;  // oldest first
    // Those not yet overwritten from the span numbered `next` on (the lane's first is 0); `next` then numbers the one
    // to come.
    std::vector<TraceSpan> readSince(std::uint64_t& next) const;
    int rank() const { return m_rank; }
    const std::string& name() const { return m_name; }

private:
    struct Cell {
        std::atomic<std::uint64_t> ticket{0};  // 2 x sequence + 2 when complete, odd while written
        std::atomic<std::uint32_t> name{0};
        std::atomic<std::int64_t> step{0}, beginNs{0}, endNs{0};
    };
    int m_rank;
    std::string m_name;
    std::size_t m_mask;
    std::unique_ptr<Cell[]> m_cells;
    std::atomic<std::uint64_t> m_written{0};
};

// All lanes of a run and the names their spans use. Lanes and names are added while a run is prepared; any thread may
// read.
class TraceBoard {
public:
    TraceLane& addLane(int rank, std::string name, std::size_t capacity = 4096);
    std::uint32_t nameId(const std::string& name);
    std::vector<std::string> names() const;
    std::vector<const TraceLane*> lanes() const;

private:
    mutable std::mutex m_mutex;
    std::vector<std::unique_ptr<TraceLane>> m_lanes;
    std::vector<std::string> m_names;
};

}  // namespace lockstep
