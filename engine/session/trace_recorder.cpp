#include "engine/session/trace_recorder.h"

#include <chrono>

#include "engine/core/error.h"

namespace lockstep {

TraceRecorder::TraceRecorder(const std::filesystem::path& folder, std::int64_t attempt, const TraceBoard& board,
                             std::function<void(const Problem&)> onTrouble)
    : m_onTrouble(std::move(onTrouble)) {
    if (!tryTo([&] { m_writer = std::make_unique<TraceWriter>(folder, attempt, board); })) return;
    m_thread = std::jthread([this](const std::stop_token& stop) { recordUntilStopped(stop); });
}

TraceRecorder::~TraceRecorder() = default;

bool TraceRecorder::tryTo(const std::function<void()>& action) {
    try {
        action();
        return true;
    } catch (const EngineError& error) {
        m_onTrouble({error.where(), "trace.unwritable", {error.what()}});
        return false;
    }
}

void TraceRecorder::recordUntilStopped(std::stop_token stop) {
    bool stopped = false;
    while (!stopped) {
        std::unique_lock lock(m_mutex);
        m_wake.wait_for(lock, stop, std::chrono::milliseconds(100), [] { return false; });
        stopped = stop.stop_requested();
        if (!tryTo([this] { m_writer->flush(); })) return;
    }
}

}  // namespace lockstep
