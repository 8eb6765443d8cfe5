#include "engine/collective/host_family.h"

#include <thread>

#include "engine/core/error.h"

namespace lockstep {

void HostFamily::notify() noexcept {
    m_pulse.fetch_add(1, std::memory_order_release);
    m_pulse.notify_all();
}

void HostFamily::sleep(std::uint32_t seen) const noexcept { m_pulse.wait(seen, std::memory_order_acquire); }

void HostFamily::abort(const AbortCause& cause) noexcept {
    {
        const std::lock_guard lock(m_mutex);
        if (!m_aborted.load()) {
            m_cause.rank = cause.rank;
            try {
                m_cause = cause;
            } catch (...) {
                // Out of memory: the rank at least is known.
            }
            m_aborted.store(true);
        }
    }
    notify();
    drain();
}

AbortCause HostFamily::cause() const {
    const std::lock_guard lock(m_mutex);
    return m_cause;
}

void HostFamily::throwIfAborted() const {
    if (!m_aborted.load(std::memory_order_acquire)) return;
    drain();
    const AbortCause first = cause();
    throw EngineError(EngineError::Kind::Aborted, first.where,
                      "rank " + std::to_string(first.rank) + " failed: " + first.what);
}

bool HostFamily::enter() noexcept {
    m_busy.fetch_add(1);
    if (!m_aborted.load()) return true;
    m_busy.fetch_sub(1);
    return false;
}

void HostFamily::drain() const noexcept {
    while (m_busy.load() != 0) std::this_thread::yield();
}

HostGroup::HostGroup(std::shared_ptr<HostFamily> family, int ranks)
    : m_family(std::move(family)),
      m_size(ranks),
      m_ring(std::make_unique<HostOperation[]>(kHostRing)),
      m_progress(std::make_unique<Progress[]>(static_cast<std::size_t>(ranks))) {
    for (std::size_t i = 0; i < kHostRing; ++i) m_ring[i].parts.resize(static_cast<std::size_t>(ranks));
}

bool HostGroup::haveAllStarted(std::uint64_t number) const {
    for (int rank = 0; rank < m_size; ++rank) {
        if (m_progress[static_cast<std::size_t>(rank)].started.load(std::memory_order_acquire) <= number) return false;
    }
    return true;
}

std::vector<int> HostGroup::ranksBefore(std::uint64_t number) const {
    std::vector<int> ranks;
    for (int rank = 0; rank < m_size; ++rank) {
        if (m_progress[static_cast<std::size_t>(rank)].started.load(std::memory_order_acquire) <= number)
            ranks.push_back(rank);
    }
    return ranks;
}

// The operation's place cannot be in use again: the rank itself would first have to come and leave.
void HostGroup::describeNext(AbortCause& cause) {
    if (cause.rank < 0 || cause.rank >= m_size) return;
    const std::uint64_t next = progress(cause.rank).started.load(std::memory_order_acquire);
    for (int rank = 0; rank < m_size; ++rank) {
        if (progress(rank).started.load(std::memory_order_acquire) > next) cause.waiting.push_back(rank);
    }
    cause.sequence = static_cast<std::int64_t>(next);
    if (cause.waiting.empty()) return;
    cause.collective = describe(operation(next).parts[static_cast<std::size_t>(cause.waiting.front())].call);
}

HostMailbox& HostGroup::mailbox(int from, int to) {
    const std::lock_guard lock(m_mutex);
    auto& box = m_mailboxes[{from, to}];
    if (!box) box = std::make_unique<HostMailbox>();
    return *box;
}

std::shared_ptr<HostGroup> HostGroup::subgroup(const std::vector<int>& ranks, int nth) {
    const std::lock_guard lock(m_mutex);
    auto& group = m_subgroups[{ranks, nth}];
    if (!group) group = std::make_shared<HostGroup>(m_family, static_cast<int>(ranks.size()));
    return group;
}

}  // namespace lockstep
