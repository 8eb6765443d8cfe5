#include "engine/session/run_log.h"

#include "engine/core/utc_time.h"

namespace lockstep {

void RunLog::post(std::int64_t number, const TrainEvent& event) {
    if (isStepEvent(event)) return;
    const std::lock_guard lock(m_mutex);
    m_out << utcNow() << ' ' << toJsonLine(event, number) << std::endl;
}

std::vector<LoggedEvent> readRunLog(const std::filesystem::path& file) {
    std::vector<LoggedEvent> events;
    std::ifstream in(file, std::ios::binary);
    for (std::string line; std::getline(in, line);) {
        const auto space = line.find(' ');
        if (space == line.npos) continue;
        auto event = eventFromJsonLine(std::string_view(line).substr(space + 1));
        if (event.ok()) events.push_back({line.substr(0, space), std::move(event).value()});
    }
    return events;
}

}  // namespace lockstep
