#include "engine/core/trace.h"

#include <algorithm>
#include <bit>
#include <chrono>

namespace lockstep {

std::int64_t traceNow() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

TraceLane::TraceLane(int rank, std::string name, std::size_t capacity)
    : m_rank(rank),
      m_name(std::move(name)),
      m_mask(std::bit_ceil(capacity) - 1),
      m_cells(std::make_unique<Cell[]>(m_mask + 1)) {}

void TraceLane::add(const TraceSpan& span) noexcept {
    const std::uint64_t sequence = m_written.load(std::memory_order_relaxed);
    Cell& cell = m_cells[sequence & m_mask];
    cell.ticket.store(2 * sequence + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    cell.name.store(span.name, std::memory_order_relaxed);
    cell.step.store(span.step, std::memory_order_relaxed);
    cell.beginNs.store(span.beginNs, std::memory_order_relaxed);
    cell.endNs.store(span.endNs, std::memory_order_relaxed);
    cell.ticket.store(2 * sequence + 2, std::memory_order_release);
    m_written.store(sequence + 1, std::memory_order_release);
}

std::vector<TraceSpan> TraceLane::read() const {
    std::uint64_t next = 0;
    return readSince(next);
}

std::vector<TraceSpan> TraceLane::readSince(std::uint64_t& next) const {
    const std::uint64_t written = m_written.load(std::memory_order_acquire);
    const std::uint64_t first = std::max(next, written > m_mask + 1 ? written - (m_mask + 1) : 0);
    next = written;
    std::vector<TraceSpan> spans;
    spans.reserve(written - first);
    for (std::uint64_t sequence = first; sequence < written; ++sequence) {
        const Cell& cell = m_cells[sequence & m_mask];
        if (cell.ticket.load(std::memory_order_acquire) != 2 * sequence + 2) continue;
        const TraceSpan span{cell.name.load(std::memory_order_relaxed), cell.step.load(std::memory_order_relaxed),
                             cell.beginNs.load(std::memory_order_relaxed), cell.endNs.load(std::memory_order_relaxed)};
        std::atomic_thread_fence(std::memory_order_acquire);
        if (cell.ticket.load(std::memory_order_relaxed) == 2 * sequence + 2) spans.push_back(span);
    }
    return spans;
}

TraceLane& TraceBoard::addLane(int rank, std::string name, std::size_t capacity) {
    const std::lock_guard lock(m_mutex);
    return *m_lanes.emplace_back(std::make_unique<TraceLane>(rank, std::move(name), capacity));
}

std::uint32_t TraceBoard::nameId(const std::string& name) {
    const std::lock_guard lock(m_mutex);
    const auto found = std::ranges::find(m_names, name);
    if (found != m_names.end()) return static_cast<std::uint32_t>(found - m_names.begin());
    m_names.push_back(name);
    return static_cast<std::uint32_t>(m_names.size() - 1);
}

std::vector<std::string> TraceBoard::names() const {
    const std::lock_guard lock(m_mutex);
    return m_names;
}

std::vector<const TraceLane*> TraceBoard::lanes() const {
    const std::lock_guard lock(m_mutex);
    std::vector<const TraceLane*> out;
    for (const auto& lane : m_lanes) out.push_back(lane.get());
    return out;
}

}  // namespace lockstep
