#pragma once
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "engine/core/result.h"
#include "engine/session/protocol.h"
#include "engine/spec/train_event.h"

namespace lockstep {

// A connection to a running trial; one thread. A line of more than 1 MiB ends it. Used by `attach`, `stop`, and the
// window.
class SessionClient {
public:
    // Waits up to five seconds for the hello. Problems: "session.not-running", "session.unreachable",
    // "session.version", "session.malformed".
    static Result<std::unique_ptr<SessionClient>> connect(const std::filesystem::path& socket);
    ~SessionClient();
    const Hello& hello() const;
    int fileDescriptor() const;  // for a notifier
    Result<bool> send(const Command& command);
    struct Line {
        std::string text;
        bool closed = false;
    };
    std::optional<Line> readLine(std::chrono::milliseconds timeout);  // empty: nothing came in time

private:
    class Impl;
    explicit SessionClient(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

}  // namespace lockstep
