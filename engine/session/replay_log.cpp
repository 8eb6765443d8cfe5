#include "engine/session/replay_log.h"

#include <algorithm>
#include <utility>

namespace lockstep {

void ReplayLog::add(std::int64_t number, bool isStep, std::string line) {
    if (m_last == 0) m_firstComplete = number;
    m_last = number;
    (isStep ? m_steps : m_states).push_back({number, std::make_shared<const std::string>(std::move(line))});
    if (m_steps.size() > m_stepCapacity) {
        m_firstComplete = m_steps.front().number + 1;
        m_steps.pop_front();
    }
}

ReplayLog::Entry ReplayLog::next(std::int64_t from) const {
    const auto find = [&](const std::deque<Entry>& entries) {
        const auto found =
            std::lower_bound(entries.begin(), entries.end(), from,
                             [](const Entry& entry, std::int64_t number) { return entry.number < number; });
        return found == entries.end() ? Entry{} : *found;
    };
    const Entry state = find(m_states), step = find(m_steps);
    if (!state.line || !step.line) return state.line ? state : step;
    return state.number < step.number ? state : step;
}

}  // namespace lockstep
