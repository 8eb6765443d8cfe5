#pragma once
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "engine/spec/train_event.h"

namespace lockstep {

// The run directory's run.log, for a person who looks for what happened: each state event's line after the time it
// came. Any thread. A log that cannot be written holds up nothing; the history is the record, and the log what remains
// where a history is lost.
class RunLog : public EventSink {
public:
    explicit RunLog(const std::filesystem::path& file) : m_out(file, std::ios::app) {}
    void post(std::int64_t number, const TrainEvent& event) override;

private:
    std::mutex m_mutex;
    std::ofstream m_out;
};

struct LoggedEvent {
    std::string time;  // as the history's: UTC, ISO 8601
    NumberedEvent event;
};
// All events of a log, in its order. Lines that are none, as the last of a killed run, are left out; none: empty.
std::vector<LoggedEvent> readRunLog(const std::filesystem::path& file);

}  // namespace lockstep
