#pragma once
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "engine/core/result.h"
#include "engine/session/trace_file.h"

namespace lockstep {

// Writes a board's spans to the run directory ten times a second, on a thread of its own, and once more at the end. A
// trace that cannot be written holds up nothing: `onTrouble` hears of it once ("trace.unwritable", on any thread), and
// no more is written.
class TraceRecorder {
public:
    TraceRecorder(const std::filesystem::path& folder, std::int64_t attempt, const TraceBoard& board,
                  std::function<void(const Problem&)> onTrouble);
    ~TraceRecorder();

private:
    void recordUntilStopped(std::stop_token stop);
    bool tryTo(const std::function<void()>& action);

    std::function<void(const Problem&)> m_onTrouble;
    std::unique_ptr<TraceWriter> m_writer;
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::jthread m_thread;  // last: it uses the others
};

}  // namespace lockstep
