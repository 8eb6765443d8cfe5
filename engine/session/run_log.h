#pragma once
#include <filesystem>
#include <fstream>
#include <mutex>

#include "engine/spec/train_event.h"

namespace lockstep {

// The run directory's run.log, for a person who looks for what happened: each state event's line after the time it
// came. Any thread. A log that cannot be written holds up nothing; the history is the record.
class RunLog : public EventSink {
public:
    explicit RunLog(const std::filesystem::path& file) : m_out(file, std::ios::app) {}
    void post(std::int64_t number, const TrainEvent& event) override;

private:
    std::mutex m_mutex;
    std::ofstream m_out;
};

}  // namespace lockstep
