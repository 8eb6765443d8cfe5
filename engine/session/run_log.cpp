#include "engine/session/run_log.h"

#include "engine/history/event_writer.h"

namespace lockstep {

void RunLog::post(std::int64_t number, const TrainEvent& event) {
    if (isStepEvent(event)) return;
    const std::lock_guard lock(m_mutex);
    m_out << utcNow() << ' ' << toJsonLine(event, number) << std::endl;
}

}  // namespace lockstep
