#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "engine/core/result.h"
#include "engine/session/protocol.h"
#include "engine/spec/train_event.h"

namespace lockstep {

// Serves one run on a local socket (mode 0700 folder). An EventSink: keeps the newest events in memory, those of
// steps and those of states each by their own measure (replay_log.h), sends them to every subscriber; of events outside
// the numbering (number 0) the newest alone, until one that is numbered comes; own thread (poll loop); a slow client
// never blocks the run.
class SessionServer : public EventSink {
public:
    // `control` runs on the server's thread; what it returns is the answer's error. Problem "session.no-socket".
    struct Handlers {
        std::function<std::optional<Problem>(const ControlCommand& control)> control;
    };
    static Result<std::unique_ptr<SessionServer>> listen(const std::filesystem::path& socket, std::int64_t trial,
                                                         Handlers handlers);
    // Sends what is queued, five seconds at most and one to readers that take nothing; then closes and removes the
    // socket.
    ~SessionServer() override;
    void post(std::int64_t number, const TrainEvent& event) override;

private:
    class Impl;
    explicit SessionServer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

}  // namespace lockstep
