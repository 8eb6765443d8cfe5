#pragma once
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace lockstep {

// A bounded queue between threads. All memory is taken at construction. Any thread may call anything.
// close() wakes everybody: push() then returns false, pop() returns what is left and then nothing.
template <class T>
class Channel {
public:
    explicit Channel(std::size_t capacity) : m_ring(capacity) {}

    bool push(T item) {  // blocks while full
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_closed || m_count < m_ring.size(); });
        return putLocked(std::move(item));
    }

    bool tryPush(T item) {  // false when full or closed
        std::unique_lock lock(m_mutex);
        return m_count < m_ring.size() && putLocked(std::move(item));
    }

    std::optional<T> pop() {  // blocks while empty
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_closed || m_count > 0; });
        return takeLocked();
    }

    std::optional<T> tryPop() {
        std::unique_lock lock(m_mutex);
        return takeLocked();
    }

    void close() {
        const std::lock_guard lock(m_mutex);
        m_closed = true;
        m_changed.notify_all();
    }

    std::size_t size() const {
        const std::lock_guard lock(m_mutex);
        return m_count;
    }

private:
    bool putLocked(T item) {
        if (m_closed) return false;
        m_ring[(m_head + m_count) % m_ring.size()] = std::move(item);
        ++m_count;
        m_changed.notify_all();
        return true;
    }

    std::optional<T> takeLocked() {
        if (m_count == 0) return std::nullopt;
        std::optional<T> item(std::move(*m_ring[m_head]));
        m_ring[m_head].reset();
        m_head = (m_head + 1) % m_ring.size();
        --m_count;
        m_changed.notify_all();
        return item;
    }

    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<std::optional<T>> m_ring;
    std::size_t m_head = 0;
    std::size_t m_count = 0;
    bool m_closed = false;
};

}  // namespace lockstep
