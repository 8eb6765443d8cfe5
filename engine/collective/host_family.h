#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/collective/collective.h"
#include "engine/collective/host_operation.h"

namespace lockstep {

constexpr std::size_t kHostRing = 64;  // operations a rank may have pending

// What a group and all its subgroups share: the word everybody sleeps on, and the abort. Any thread.
class HostFamily {
public:
    // Every change that somebody may wait for is followed by notify(); read pulse() before looking, then sleep(it).
    std::uint32_t pulse() const noexcept { return m_pulse.load(std::memory_order_acquire); }
    void notify() noexcept;
    void sleep(std::uint32_t seen) const noexcept;

    void abort(const AbortCause& cause) noexcept;
    AbortCause cause() const;
    void throwIfAborted() const;  // EngineError(Aborted), once nobody touches shared memory any more

    // Around every access to another rank's memory. False: aborted, hands off.
    bool enter() noexcept;
    void leave() noexcept { m_busy.fetch_sub(1); }

private:
    void drain() const noexcept;

    alignas(64) std::atomic<std::uint32_t> m_pulse{0};
    alignas(64) std::atomic<int> m_busy{0};
    std::atomic<bool> m_aborted{false};
    mutable std::mutex m_mutex;
    AbortCause m_cause;
};

// Messages from one rank to another, in order. The receiver copies out of the sender's memory.
struct HostMailbox {
    struct Message {
        const std::byte* data = nullptr;
        std::size_t bytes = 0;
    };
    std::array<Message, kHostRing> messages;
    std::atomic<std::uint64_t> posted{0}, taken{0};
};

// The shared side of one group.
class HostGroup {
public:
    HostGroup(std::shared_ptr<HostFamily> family, int ranks);

    HostFamily& family() const { return *m_family; }
    int size() const { return m_size; }
    HostOperation& operation(std::uint64_t number) { return m_ring[number % kHostRing]; }
    HostMailbox& mailbox(int from, int to);
    // Operations that a rank has started, and the one it waits for (kNone: it does not); written by the rank alone.
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};
    struct alignas(64) Progress {
        std::atomic<std::uint64_t> started{0}, waitsFor{kNone};
    };
    Progress& progress(int rank) { return m_progress[static_cast<std::size_t>(rank)]; }
    bool haveAllStarted(std::uint64_t number) const;
    std::vector<int> ranksBefore(std::uint64_t number) const;  // those that have not started operation `number`
    // What AbortCause says about the operation that cause.rank would have come to next.
    void describeNext(AbortCause& cause);

    // The `nth` subgroup (from 0) that a rank asked for over the same ranks.
    std::shared_ptr<HostGroup> subgroup(const std::vector<int>& ranks, int nth);

private:
    std::shared_ptr<HostFamily> m_family;
    int m_size;
    std::unique_ptr<HostOperation[]> m_ring;
    std::unique_ptr<Progress[]> m_progress;
    std::mutex m_mutex;
    std::map<std::pair<int, int>, std::unique_ptr<HostMailbox>> m_mailboxes;
    std::map<std::pair<std::vector<int>, int>, std::shared_ptr<HostGroup>> m_subgroups;
};

}  // namespace lockstep
