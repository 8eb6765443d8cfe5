#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

namespace lockstep {

// The events of a run as lines, by number: all state events, and the newest `stepCapacity` step events. Posted numbers
// ascend by one. No thread of its own and no lock: the server guards it.
class ReplayLog {
public:
    explicit ReplayLog(std::size_t stepCapacity) : m_stepCapacity(stepCapacity) {}

    void add(std::int64_t number, bool isStep, std::string line);
    std::int64_t last() const { return m_last; }                    // 0: none yet
    std::int64_t firstComplete() const { return m_firstComplete; }  // from here on nothing is missing

    struct Entry {
        std::int64_t number = 0;
        std::shared_ptr<const std::string> line;  // empty: nothing from `from` on yet
    };
    // The first entry numbered `from` or later.
    Entry next(std::int64_t from) const;

private:
    std::size_t m_stepCapacity;
    std::deque<Entry> m_states, m_steps;
    std::int64_t m_last = 0, m_firstComplete = 1;
};

}  // namespace lockstep
