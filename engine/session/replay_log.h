#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

namespace lockstep {

// The newest `capacity` lines, by ascending number. They lie in large blocks that are used again: thousands of small
// pieces that stay for minutes would keep the heap's room between them from being used by what comes and goes.
class LineRing {
public:
    struct Line {
        std::int64_t number = 0;
        std::string_view text;
    };
    explicit LineRing(std::size_t capacity) : m_capacity(capacity) { m_lines.reserve(capacity); }

    std::int64_t add(std::int64_t number, std::string_view text);  // returns the number of the line it lets go, or 0
    const Line* next(std::int64_t from) const;  // the first numbered `from` or later; null: none. Until the next add()

private:
    struct Block {
        std::unique_ptr<char[]> bytes;
        std::size_t size = 0, used = 0, lines = 0;
    };
    const Line& at(std::size_t index) const { return m_lines[(m_begin + index) % m_lines.size()]; }  // from the oldest
    std::string_view kept(std::string_view text);
    void letGo();  // of a line of the oldest block

    std::size_t m_capacity, m_begin = 0;
    std::vector<Line> m_lines;
    std::deque<Block> m_blocks;
    Block m_spare;
};

// The events of a run as lines, by number: the newest `stepCapacity` step events, and of the others, which are rare, so
// many that a run of days loses none (`stateCapacity`). Posted numbers ascend by one. No thread of its own and no lock:
// the server guards it.
class ReplayLog {
public:
    explicit ReplayLog(std::size_t stepCapacity, std::size_t stateCapacity = 65'536)
        : m_states(stateCapacity), m_steps(stepCapacity) {}

    void add(std::int64_t number, bool isStep, std::string_view line);
    std::int64_t last() const { return m_last; }                    // 0: none yet
    std::int64_t firstComplete() const { return m_firstComplete; }  // from here on nothing is missing

    // The first numbered `from` or later; null: nothing from `from` on yet. Good until the next add().
    const LineRing::Line* next(std::int64_t from) const;

private:
    LineRing m_states, m_steps;
    std::int64_t m_last = 0, m_firstComplete = 1;
};

}  // namespace lockstep
